#include "simulator/clients.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "simulator/memory_hints.h"
#include "simulator/server_node.h"

namespace retrystorm {
namespace {

// Networks and processors take no time here. A client that does not wait at all, turned away by a
// server that needs none either, would come back for ever at one moment: so it comes back a little
// later, about as fast as a real one can.
constexpr Duration kTurnaround = std::chrono::microseconds(100);

// About how many waits there are at a time.
std::size_t expected_waits(const Scenario& scenario) {
  return scenario.workload.arrivals == Arrivals::kOpen
             ? static_cast<std::size_t>(scenario.workload.rate * to_seconds(scenario.length))
             : scenario.workload.clients;
}

}  // namespace

Clients::Clients(const Scenario& scenario, ServerNode& server, RequestTrace* trace)
    : behaviour_(scenario.workload.mean_think_time(), scenario.workload.retry),
      trace_(trace),
      asks_(behaviour_.policy().asks() || trace != nullptr),
      watches_(scenario.workload.arrivals != Arrivals::kClosed || trace != nullptr),
      has_processes_(behaviour_.policy().has_process()),
      clients_per_process_(scenario.workload.clients_per_process),
      count_(scenario.workload.clients),
      timeout_(scenario.workload.timeout),
      seed_(scenario.seed),
      kind_(scenario.workload.arrivals),
      end_(saturating_add(TimePoint{}, scenario.length)),
      load_changes_(std::any_of(scenario.changes.begin(), scenario.changes.end(),
                                [](const Change& each) { return each.load != 1; })),
      server_(server),
      waits_(TimePoint{}, end_, expected_waits(scenario)),
      job_(kind_ == Arrivals::kJob ? std::optional(Job(scenario.workload.job, count_))
                                   : std::nullopt),
      open_arrivals_(scenario.seed, scenario.workload.rate) {}

void Clients::start() {
  if (kind_ == Arrivals::kOpen) {
    next_arrival_ = TimePoint{} + open_arrivals_.next_gap();
    return;
  }
  if (kind_ == Arrivals::kJob) {
    next_arrival_ = TimePoint{};
    return;
  }
  clients_.reserve(count_);
  prefer_large_pages(clients_.data(), clients_.capacity() * sizeof(Client));
  clients_.resize(count_);
  if (has_processes_) make_processes(TimePoint{}, static_cast<std::uint32_t>(count_) - 1);
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    Client& client = clients_[i];
    ClientRandom random(seed_, i);
    schedule(TimePoint{}, i, {.think = behaviour_.start(client.retry, random)});
    client.random = random.state();
  }
}

void Clients::find_next_worker() {
  const auto start = job_->next_start();
  next_arrival_ = start ? saturating_add(TimePoint{}, *start) : TimePoint::max();
}

void Clients::begin_worker(TimePoint now) {
  // The tasks may have run out meanwhile; then this is the end, or nothing.
  if (!job_->next_start()) {
    next_arrival_ = TimePoint::max();
    return;
  }
  const auto index = static_cast<std::uint32_t>(job_->start());
  find_next_worker();
  clients_.emplace_back();
  pauses_.emplace_back(0);
  enter(now, index, index);
}

void Clients::arrive(TimePoint now) {
  if (job_) return begin_worker(now);
  next_arrival_ = saturating_add(now, scale(open_arrivals_.next_gap(), 1 / load_));
  std::uint32_t index = static_cast<std::uint32_t>(clients_.size());
  if (free_clients_.empty()) {
    clients_.emplace_back();
  } else {
    index = free_clients_.back();
    free_clients_.pop_back();
  }
  enter(now, index, arrivals_++);
}

void Clients::enter(TimePoint now, std::uint32_t index, std::uint64_t stream) {
  Client& client = clients_[index];
  ClientRandom random(seed_, stream);
  client.retry = {};
  behaviour_.start(client.retry, random);
  client.random = random.state();
  client.last_ok = now;
  client.next_is_retry = false;
  send(now, index);
}

void Clients::end_wait(TimePoint now) {
  prefetch(clients_[waits_.soon(kPrefetch)]);
  send(now, waits_.pop().client);
}

void Clients::make_processes(TimePoint now, std::uint32_t last_client) {
  while (processes_.size() <= last_client / clients_per_process_) {
    processes_.push_back({.parts = behaviour_.policy().make_process(now), .line = {}});
  }
}

RetryProcess* Clients::process_of(std::uint32_t client) {
  return has_processes_ ? processes_[client / clients_per_process_].parts.get() : nullptr;
}

void Clients::wait_for_permission(TimePoint now, std::uint32_t index, Duration wait) {
  if (job_) pauses_[index] = wait;
  if (behaviour_.policy().waits_in_line()) {
    Fifo<std::uint32_t>& line = processes_[index / clients_per_process_].line;
    if (!std::exchange(clients_[index].in_line, true)) line.push(index);
    if (line.front() != index) return;
  }
  waits_.push({saturating_add(now, std::max(wait, kTurnaround)), index});
}

// The client is the first, for the others do not ask; and the next one's turn has come.
void Clients::leave_line(TimePoint now, std::uint32_t index) {
  Fifo<std::uint32_t>& line = processes_[index / clients_per_process_].line;
  clients_[index].in_line = false;
  line.pop();
  if (!line.empty()) waits_.push({now, line.front()});
}

bool Clients::may_send(TimePoint now, std::uint32_t index) {
  Client& client = clients_[index];
  if (has_processes_) make_processes(now, index);
  if (trace_ != nullptr && !RetryPolicy::has_begun(client.retry)) trace_->begin(now, index);
  ClientRandom random(client.random);
  const Permission permission = behaviour_.may_send(now, client.retry, process_of(index), random);
  client.random = random.state();
  if (permission.kind == Permission::Kind::kWait) {
    wait_for_permission(now, index, permission.wait);
    return false;
  }
  if (client.in_line) leave_line(now, index);
  if (permission.kind == Permission::Kind::kSend) {
    if (trace_ != nullptr) trace_->sent(now, index, client.attempt + 1);
    return true;
  }
  if (permission.kind == Permission::Kind::kRefused) ++counts_.not_sent;
  if (trace_ != nullptr) trace_->not_sent(now, index, permission.kind);
  if (client.next_is_retry) --waiting_to_retry_;
  const TimePoint begun = client.retry.begun;
  const NextAttempt next = behaviour_.after_refusal(now, permission.kind, client.retry,
                                                    process_of(index), random, retry_metrics_);
  client.random = random.state();
  if (next.gave_up) latencies_.add_given_up(now - begun);
  follow(now, index, next, nullptr);
  return false;
}

void Clients::send(TimePoint now, std::uint32_t index) {
  Client& client = clients_[index];
  if (!RetryPolicy::has_begun(client.retry)) {
    client.unsent = true;
    ++counts_.requests;
    ++counts_.unsent;
  }
  if (!asks_) {
    RetryPolicy::begin(client.retry, now);
  } else if (!may_send(now, index)) {
    return;
  }
  if (client.unsent) {
    client.unsent = false;
    --counts_.unsent;
  } else {
    ++counts_.retries;
  }
  ++client.attempt;
  client.in_flight = true;
  client.sent_at = now;
  if (client.next_is_retry) --waiting_to_retry_;
  ++in_flight_;
  const Attempt attempt{index, client.attempt};
  const Duration left = behaviour_.policy().time_left(now, client.retry);
  if (left >= timeout_) {
    timeouts_.push({saturating_add(now, timeout_), attempt});
  } else {
    cut_short_.push_back({saturating_add(now, left), attempt});
    std::push_heap(cut_short_.begin(), cut_short_.end(), later);
  }
  server_.connect(now, attempt);
}

void Clients::time_out(TimePoint now) {
  Attempt attempt;
  if (!cut_short_.empty() && (timeouts_.empty() || later(timeouts_.front(), cut_short_.front()))) {
    attempt = cut_short_.front().attempt;
    std::pop_heap(cut_short_.begin(), cut_short_.end(), later);
    cut_short_.pop_back();
  } else {
    attempt = timeouts_.front().attempt;
    expect(timeouts_.peek(kPrefetch).attempt);
    timeouts_.pop();
  }
  if (!waits_for(attempt)) return;
  server_.hang_up(now, attempt);
  finish(now, attempt, timed_out(now - clients_[attempt.client].sent_at));
}

void Clients::take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) {
  const Duration latency = now - clients_[attempt.client].sent_at;
  if (answer.ok()) return finish(now, attempt, {.latency = latency});
  const auto hint =
      answer.retry_after > Duration::zero() ? std::optional(answer.retry_after) : std::nullopt;
  const AttemptResult result = answered(answer.status(), hint, latency, answer.error_name());
  if (result.failure == Failure::kThrottled) ++counts_.throttled;
  finish(now, attempt, result);
}

void Clients::lose_connection(TimePoint now, const Attempt& attempt) {
  finish(now, attempt, not_connected(now - clients_[attempt.client].sent_at));
}

void Clients::expect(const Attempt& attempt) const {
  prefetch(clients_[attempt.client]);
}

void Clients::finish(TimePoint now, const Attempt& attempt, const AttemptResult& result) {
  Client& client = clients_[attempt.client];
  client.in_flight = false;
  --in_flight_;
  counts_.count(result.outcome);
  const TimePoint begun = client.retry.begun;
  if (result.outcome == Outcome::kOk) {
    latencies_.add_ok(result.latency, now - begun);
    longest_without_ok_ = std::max(longest_without_ok_, now - client.last_ok);
    client.last_ok = now;
  }
  ClientRandom random(client.random);
  const NextAttempt next = behaviour_.after(now, result, client.retry, process_of(attempt.client),
                                            random, retry_metrics_);
  client.random = random.state();
  if (next.gave_up) latencies_.add_given_up(now - begun);
  follow(now, attempt.client, next, &result);
}

void Clients::follow(TimePoint now, std::uint32_t index, NextAttempt next,
                     const AttemptResult* ended) {
  if (next.wait == Duration::zero() && next.think == Duration::zero()) next.wait = kTurnaround;
  if (next.gave_up) counts_.give_up(*next.gave_up);
  const bool was_failing = clients_[index].next_is_retry;
  if (next.retry && !was_failing) ++counts_.failing;
  if (!next.retry && was_failing) --counts_.failing;
  if (watches_) return follow_watched(now, index, next, ended);
  schedule(now, index, next);
}

void Clients::follow_watched(TimePoint now, std::uint32_t index, const NextAttempt& next,
                             const AttemptResult* ended) {
  if (trace_ != nullptr) {
    if (ended != nullptr) trace_->ended(index, *ended);
    trace_->follow(now, index, next);
  }
  if (job_) pauses_[index] = next.wait;
  if (kind_ == Arrivals::kClosed || next.retry) return schedule(now, index, next);
  if (job_ && job_->next_call(index)) return schedule(now, index, next);
  end_request(now, index);
  if (!job_) return free_clients_.push_back(index);
  pauses_[index] = Duration::zero();
  if (job_->all_done()) next_arrival_ = now;
}

void Clients::end_request(TimePoint now, std::uint32_t index) {
  // Given up, it has waited to its end for an OK that never came.
  Client& client = clients_[index];
  longest_without_ok_ = std::max(longest_without_ok_, now - client.last_ok);
  client.last_ok = TimePoint::max();  // an empty slot misses no answer
}

void Clients::schedule(TimePoint now, std::uint32_t index, const NextAttempt& next) {
  clients_[index].next_is_retry = next.retry;
  if (next.retry) ++waiting_to_retry_;
  if (load_changes_) return schedule_at_load(now, index, next);
  waits_.push({saturating_add(now, saturating_add(next.wait, next.think)), index});
}

void Clients::schedule_at_load(TimePoint now, std::uint32_t index, const NextAttempt& next) {
  const Duration think = scale(next.think, 1 / load_);
  const TimePoint end = saturating_add(saturating_add(now, next.wait), think);
  waits_.push({end, index});
  if (end > end_) after_end_.push_back({end, index});
}

void Clients::set_load(TimePoint now, double load) {
  if (load == load_) return;
  const double ratio = load_ / load;  // of the times, new to old
  load_ = load;
  if (kind_ == Arrivals::kOpen) {
    next_arrival_ = saturating_add(now, scale(next_arrival_ - now, ratio));
    return;
  }
  std::vector<WaitQueue::Wait> waits = waits_.take_all();
  waits.insert(waits.end(), after_end_.begin(), after_end_.end());
  after_end_.clear();
  for (WaitQueue::Wait& wait : waits) {
    const Client& client = clients_[wait.client];
    if (client.next_is_retry || client.in_line) continue;
    // It pauses before it thinks; as from the sending of its last attempt, which is near enough.
    const TimePoint thinks_from = std::max(now, saturating_add(client.sent_at, client.retry.pause));
    if (wait.end > thinks_from) {
      wait.end = saturating_add(thinks_from, scale(wait.end - thinks_from, ratio));
    }
  }
  for (const WaitQueue::Wait& wait : waits) {
    waits_.push(wait);
    if (wait.end > end_) after_end_.push_back(wait);
  }
}

ClientStates Clients::states() const {
  const std::size_t busy = in_flight_ + waiting_to_retry_;
  // In an open system nobody thinks: requests come from outside.
  const std::size_t all = kind_ == Arrivals::kOpen ? busy
                          : job_                   ? job_->present()
                                                   : clients_.size();
  ClientStates states{
      .thinking = all - busy, .in_flight = in_flight_, .waiting_to_retry = waiting_to_retry_};
  if (job_) {
    const Duration pauses = std::accumulate(pauses_.begin(), pauses_.end(), Duration::zero());
    states.mean_pause = all == 0 ? Duration::zero() : pauses / static_cast<std::int64_t>(all);
  }
  return states;
}

Duration Clients::longest_without_ok(TimePoint now) const {
  Duration longest = longest_without_ok_;
  for (const Client& client : clients_) longest = std::max(longest, now - client.last_ok);
  return longest;
}

}  // namespace retrystorm
