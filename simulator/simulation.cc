#include "simulator/simulation.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "simulator/memory_hints.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

// A SYN that finds the accept queue full is dropped, and the client's kernel sends it again. The
// timer is 1 s, but the kernel's clock ticks make it a little longer: at exactly 1 s the model
// disagrees with the kernel by a third. (Linux repeats at this pace four times, then slower.)
constexpr Duration kSynRepeat = 1010ms;

// The arrivals of an open system are a stream of their own, apart from every request's.
constexpr std::uint64_t kArrivalStream = std::numeric_limits<std::uint64_t>::max() - 1;

constexpr TimePoint kNever = TimePoint::max();

// Networks and processors take no time here. A client that does not wait at all, turned away by a
// server that needs none either, would come back for ever at one moment: so it comes back a little
// later, about as fast as a real one can.
constexpr Duration kTurnaround = 100us;

// How far ahead of its use a client's memory is asked for: with a million clients it is seldom in
// the cache.
constexpr std::size_t kPrefetch = 16;

}  // namespace

Simulation::Simulation(const Scenario& scenario, const SimulationObservers& observers)
    : scenario_(scenario),
      observers_(observers),
      behaviour_(scenario.workload.think_time, scenario.workload.retry),
      end_(saturating_add(TimePoint{}, scenario.length)),
      waits_(TimePoint{}, end_,
             scenario.arrivals == Arrivals::kClosed
                 ? scenario.workload.clients
                 : static_cast<std::size_t>(scenario.rate * to_seconds(scenario.length))),
      service_(scenario.service.curve()),
      admission_(scenario.service.admission()),
      arrival_random_(scenario.seed, kArrivalStream),
      recorder_(TimePoint{}),
      server_report_at_(saturating_add(TimePoint{}, scenario.server_report_interval)) {
  if (scenario.outage_at) freeze_at_ = saturating_add(TimePoint{}, *scenario.outage_at);
  for (RunObserver* each : observers_.run) recorder_.add(*each, scenario.report_interval);
  if (observers_.service.empty()) server_report_at_ = kNever;
}

SimulationResult Simulation::run(const std::function<bool()>& stop) {
  start_clients();
  control_at_ = next_control();
  constexpr std::uint64_t kStopCheck = 1 << 16;
  std::uint64_t stop_check = kStopCheck;

  while (now_ < end_) {
    // What happens first; at the same moment an answer comes before the timeout it beats.
    const TimePoint departure = server_awake_ ? next_departure_ : kNever;
    const TimePoint timeout = timeouts_.empty() ? kNever : timeouts_.front().time;
    const TimePoint syn = syn_repeats_.empty() ? kNever : syn_repeats_.front().time;
    const TimePoint wait = waits_.next();
    const TimePoint first = std::min({departure, timeout, syn, wait, next_arrival_, control_at_});
    // What was due while the server was frozen happens at its waking.
    now_ = std::max(now_, first);

    if (first == control_at_) {
      control();
      control_at_ = next_control();
      continue;
    }
    if (++events_ >= stop_check) {
      stop_check = events_ + kStopCheck;
      if (stop && stop()) break;
    }
    if (first == departure) {
      depart();
    } else if (first == timeout) {
      time_out();
    } else if (first == syn) {
      repeat_syn();
    } else if (first == wait) {
      end_wait();
    } else {
      arrive_open();
    }
  }

  for (const Client& client : clients_) {
    longest_without_ok_ = std::max(longest_without_ok_, now_ - client.last_ok);
  }
  SimulationResult result{.summary = {.strategy = scenario_.workload.retry.strategy,
                                      .clients = scenario_.workload.clients,
                                      .seed = scenario_.seed,
                                      .elapsed = now_ - TimePoint{},
                                      .counts = counts_,
                                      .recovery = recorder_.end(now_, counts_),
                                      .latency = latency_,
                                      .retry_metrics = retry_metrics_,
                                      .longest_without_ok = longest_without_ok_,
                                      .paced = scenario_.workload.retry.pacer.on},
                          .peak_concurrency = peak_concurrency_,
                          .events = events_};
  recorder_.summarize(result.summary);
  return result;
}

void Simulation::start_clients() {
  if (scenario_.arrivals == Arrivals::kOpen) {
    next_arrival_ = TimePoint{} + arrival_random_.exponential(from_seconds(1 / scenario_.rate));
    return;
  }
  clients_.reserve(scenario_.workload.clients);
  prefer_large_pages(clients_.data(), clients_.capacity() * sizeof(Client));
  clients_.resize(scenario_.workload.clients);
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    Client& client = clients_[i];
    ClientRandom random(scenario_.seed, i);
    schedule(i, {.wait = behaviour_.start(client.retry, random)});
    client.random = random.state();
  }
}

TimePoint Simulation::next_control() const {
  return std::min({recorder_.next_tick(), server_report_at_, freeze_at_, wake_at_, end_});
}

void Simulation::control() {
  if (now_ >= recorder_.next_tick()) recorder_.tick(now_, counts_, client_states());
  if (now_ >= server_report_at_) report_server();
  if (now_ >= freeze_at_) {
    freeze_at_ = kNever;
    server_awake_ = false;
    recorder_.outage_begins(now_, counts_);
    wake_at_ = saturating_add(now_, scenario_.outage_for);
  }
  if (now_ >= wake_at_) {
    wake_at_ = kNever;
    server_awake_ = true;
    recorder_.outage_ends(now_, counts_);
    accept();
  }
}

ClientStates Simulation::client_states() const {
  const std::size_t busy = in_flight_ + waiting_to_retry_;
  // In an open system nobody thinks: requests come from outside.
  const std::size_t all = scenario_.arrivals == Arrivals::kOpen ? busy : clients_.size();
  return {.thinking = all - busy, .in_flight = in_flight_, .waiting_to_retry = waiting_to_retry_};
}

void Simulation::report_server() {
  // A frozen server says nothing, and leaves out the lines it missed.
  if (server_awake_) {
    server_interval_.concurrency = service_.concurrency();
    server_interval_.last_delay = service_.current_delay();
    for (ServiceObserver* each : observers_.service) {
      each->on_interval(now_ - TimePoint{}, now_ - server_reported_at_, server_interval_);
    }
    server_interval_ = {};
    server_reported_at_ = now_;
  }
  server_report_at_ = saturating_add(server_report_at_, scenario_.server_report_interval);
}

void Simulation::arrive_open() {
  next_arrival_ =
      saturating_add(now_, arrival_random_.exponential(from_seconds(1 / scenario_.rate)));
  std::uint32_t index = static_cast<std::uint32_t>(clients_.size());
  if (free_clients_.empty()) {
    clients_.emplace_back();
  } else {
    index = free_clients_.back();
    free_clients_.pop_back();
  }
  Client& client = clients_[index];
  ClientRandom random(scenario_.seed, arrivals_++);
  client.retry = {};
  behaviour_.start(client.retry, random);
  client.random = random.state();
  client.last_ok = now_;
  client.next_is_retry = false;
  send(index);
}

void Simulation::end_wait() {
  prefetch(clients_[waits_.soon(kPrefetch)]);
  send(waits_.pop().client);
}

void Simulation::send(std::uint32_t index) {
  Client& client = clients_[index];
  ++client.attempt;
  client.in_flight = true;
  client.in_service = false;
  client.sent_at = now_;
  ClientRandom random(client.random);
  behaviour_.may_send(now_, client.retry, nullptr, random);
  ++(client.next_is_retry ? counts_.retries : counts_.requests);
  if (client.next_is_retry) --waiting_to_retry_;
  ++in_flight_;
  const Attempt attempt{index, client.attempt};
  timeouts_.push({saturating_add(now_, scenario_.workload.timeout), attempt});
  connect(attempt);
}

void Simulation::connect(const Attempt& attempt) {
  if (accept_queue_.size() > scenario_.service.backlog) {
    syn_repeats_.push({now_ + kSynRepeat, attempt});
    return;
  }
  accept_queue_.push(attempt);
  accept();
}

void Simulation::repeat_syn() {
  const Attempt attempt = syn_repeats_.front().attempt;
  prefetch(clients_[syn_repeats_.peek(kPrefetch).attempt.client]);
  syn_repeats_.pop();
  if (is_under_way(attempt)) connect(attempt);
}

void Simulation::time_out() {
  const Attempt attempt = timeouts_.front().attempt;
  prefetch(clients_[timeouts_.peek(kPrefetch).attempt.client]);
  timeouts_.pop();
  if (!is_under_way(attempt)) return;
  if (scenario_.abandoned == Abandoned::kCancel && clients_[attempt.client].in_service) {
    service_.leave();
    service_changed();
    accept();
  }
  finish(attempt, timed_out(latency_of(attempt)));
}

void Simulation::accept() {
  while (server_awake_ && !accept_queue_.empty() &&
         service_.concurrency() < scenario_.service.max_connections) {
    const Attempt attempt = accept_queue_.front();
    accept_queue_.pop();
    const bool abandoned = !is_under_way(attempt);
    if (abandoned && scenario_.abandoned != Abandoned::kServe) continue;

    const Admission admission = admission_.admit(now_, service_.concurrency());
    if (admission != Admission::kServe) {
      ++(admission == Admission::kShed ? server_interval_.rejected_503
                                       : server_interval_.rejected_429);
      // In whole seconds, as the real server's answer has it.
      const Duration hint =
          std::chrono::ceil<std::chrono::seconds>(admission_.retry_after(admission));
      const int status = admission == Admission::kShed ? 503 : 429;
      if (!abandoned) {
        finish(attempt, answered(status, std::max<Duration>(hint, 1s), latency_of(attempt)));
      }
      continue;
    }
    ++server_interval_.arrivals;
    clients_[attempt.client].in_service |= !abandoned;
    service_.arrive(now_, attempt);
    service_changed();
  }
}

void Simulation::depart() {
  if (const Attempt* soon = service_.peek(kPrefetch)) {
    prefetch(clients_[soon->client]);
  }
  const auto attempt = service_.depart(now_);
  const bool under_way = is_under_way(*attempt);
  // A cancelled request has left already: only its place in the queue remained.
  if (under_way || scenario_.abandoned != Abandoned::kCancel) {
    service_.leave();
    ++server_interval_.departures;
  }
  if (under_way) finish(*attempt, {.latency = latency_of(*attempt)});
  service_changed();
  accept();
}

void Simulation::service_changed() {
  peak_concurrency_ = std::max(peak_concurrency_, service_.concurrency());
  next_departure_ = service_.next_departure();
}

void Simulation::finish(const Attempt& attempt, const AttemptResult& result) {
  Client& client = clients_[attempt.client];
  client.in_flight = false;
  --in_flight_;
  counts_.count(result.outcome);
  ClientRandom random(client.random);
  NextAttempt next = behaviour_.after(now_, result, client.retry, nullptr, random, retry_metrics_);
  if (next.wait == Duration::zero()) next.wait = kTurnaround;
  client.random = random.state();
  if (next.gave_up) ++counts_.gave_up;
  if (result.outcome == Outcome::kOk) {
    latency_.add(result.latency);
    longest_without_ok_ = std::max(longest_without_ok_, now_ - client.last_ok);
    client.last_ok = now_;
  }
  if (scenario_.arrivals == Arrivals::kOpen && !next.retry) {
    client.last_ok = kNever;  // an empty slot misses no answer
    free_clients_.push_back(attempt.client);
    return;
  }
  schedule(attempt.client, next);
}

void Simulation::schedule(std::uint32_t index, const NextAttempt& next) {
  clients_[index].next_is_retry = next.retry;
  if (next.retry) ++waiting_to_retry_;
  waits_.push({saturating_add(now_, next.wait), index});
}

}  // namespace retrystorm
