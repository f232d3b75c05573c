#include "client/fleet.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "common/os/process.h"

namespace retrystorm {

using namespace std::chrono_literals;

Fleet::Fleet(const WorkloadOptions& options, std::uint64_t seed, const Url& url,
             const std::vector<int>& spared_ports)
    : options_(options),
      seed_(seed),
      url_(url),
      spared_ports_(spared_ports),
      behaviour_(options.think_time, options.retry) {
  if (behaviour_.policy().has_process()) {
    for (std::size_t i = 0; i < options.clients; i += options.clients_per_process) {
      processes_.emplace_back().parts = behaviour_.policy().make_process(now());
    }
  }
  // All before the first client runs: whoever asks for the history goes through them.
  for (std::size_t i = 0; i < options.clients; ++i) {
    attempts_.emplace_back(url_, options_.timeout, deadlines_);
    last_ok_.emplace_back(now());
  }
}

Fleet::~Fleet() {
  stop();
}

void Fleet::start() {
  threads_.reserve(options_.clients);
  try {
    for (std::size_t i = 0; i < options_.clients; ++i) {
      threads_.emplace_back(&Fleet::run_client, this, i, std::ref(attempts_[i]),
                            std::ref(last_ok_[i]));
      ++running_;
    }
  } catch (const std::system_error& error) {
    const std::size_t started = threads_.size();
    stop();
    throw std::runtime_error("only " + std::to_string(started) + " of " +
                             std::to_string(options_.clients) +
                             " clients could be started, for each is a thread: " + error.what());
  }
}

FleetTotals Fleet::totals() const {
  // Read one after the other while the clients go on: a client may be seen in two states.
  const std::size_t in_flight = in_flight_, waiting = waiting_to_retry_;
  FleetTotals totals{
      .counts = {.ok = ok_,
                 .errors = errors_,
                 .timed_out = timed_out_,
                 .requests = requests_,
                 .retries = retries_,
                 .not_sent = not_sent_,
                 .unsent = unsent_,
                 .failing = failing_},
      .clients = {.thinking = options_.clients - std::min(options_.clients, in_flight + waiting),
                  .in_flight = in_flight,
                  .waiting_to_retry = waiting}};
  std::copy(gave_up_by_.begin(), gave_up_by_.end(), totals.counts.gave_up_by.begin());
  return totals;
}

FleetHistory Fleet::history() const {
  const std::scoped_lock lock(history_mutex_);
  FleetHistory history = history_;
  const TimePoint end = now();
  for (const LastOk& last_ok : last_ok_) {
    const TimePoint last = last_ok;
    if (last == TimePoint::max()) continue;
    history.longest_without_ok = std::max(history.longest_without_ok, end - last);
  }
  return history;
}

void Fleet::stop() {
  {
    const std::scoped_lock lock(stop_mutex_);
    stopping_ = true;
  }
  stop_wanted_.notify_all();
  // A connect to a frozen server would last for the whole timeout.
  for (; running_ > 0; std::this_thread::sleep_for(5ms)) {
    if (in_flight_ > 0) shut_down_all_sockets(spared_ports_);
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

bool Fleet::wait(Duration duration) {
  // A far time point overflows inside the wait of some standard libraries.
  const TimePoint until = Clock::now() + std::min<Duration>(duration, 24h * 365);
  std::unique_lock lock(stop_mutex_);
  return !stop_wanted_.wait_until(lock, until, [this] { return stopping_.load(); });
}

bool Fleet::think(Duration think) {
  // What is left of it, at the load that it was configured for.
  std::unique_lock lock(stop_mutex_);
  while (!stopping_ && think > Duration::zero()) {
    const double load = load_;
    const TimePoint from = Clock::now();
    const TimePoint until = from + std::min<Duration>(scale(think, 1 / load), 24h * 365);
    if (!stop_wanted_.wait_until(lock, until, [&] { return stopping_ || load_ != load; })) break;
    think -= scale(Clock::now() - from, load);
  }
  return !stopping_;
}

void Fleet::set_load(double load) {
  {
    const std::scoped_lock lock(stop_mutex_);
    load_ = load;
  }
  stop_wanted_.notify_all();
}

bool Fleet::wait(const NextAttempt& next) {
  if (!next.retry) return wait(next.wait) && think(next.think);
  histograms_.add_retry_wait(next.wait);
  ++waiting_to_retry_;
  const bool goes_on = wait(next.wait);
  --waiting_to_retry_;
  return goes_on;
}

void Fleet::count(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      ++ok_;
      break;
    case Outcome::kError:
      ++errors_;
      break;
    case Outcome::kTimedOut:
      ++timed_out_;
      break;
  }
}

void Fleet::count_end(const NextAttempt& next, bool was_retry, Duration request_time) {
  if (next.retry && !was_retry) ++failing_;
  if (!next.retry && was_retry) --failing_;
  if (!next.gave_up) return;
  ++gave_up_by_[static_cast<std::size_t>(*next.gave_up)];
  histograms_.add_request(TimeHistograms::RequestResult::kGivenUp, request_time);
  const std::scoped_lock lock(history_mutex_);
  history_.latencies.add_given_up(request_time);
}

template <typename Ask>
auto Fleet::with_process(std::uint64_t client, Ask ask) {
  if (processes_.empty()) return ask(static_cast<RetryProcess*>(nullptr));
  Process& process = processes_[client / options_.clients_per_process];
  const std::scoped_lock lock(process.mutex);
  return ask(process.parts.get());
}

template <typename Ask>
Permission Fleet::wait_for_permission(std::uint64_t client, Permission permission, bool retry,
                                      Ask ask) {
  const TimePoint begin = now();
  if (retry) ++waiting_to_retry_;
  std::unique_lock turn(processes_[client / options_.clients_per_process].turn, std::defer_lock);
  if (behaviour_.policy().waits_in_line()) {
    turn.lock();
    permission = with_process(client, ask);
  }
  while (permission.kind == Permission::Kind::kWait && wait(permission.wait)) {
    permission = with_process(client, ask);
  }
  if (retry) {
    --waiting_to_retry_;
    histograms_.add_retry_wait(now() - begin);
  }
  return permission;
}

void Fleet::run_client(std::uint64_t index, HttpAttempt& attempt, LastOk& last_ok) {
  ClientRandom random(seed_, index);
  RetryState state;
  RetryMetrics metrics;

  NextAttempt next{.think = behaviour_.start(state, random)};
  bool unsent = false;  // no attempt of the request at hand has been sent so far
  bool traced = false;  // the request at hand
  while (wait(next)) {
    if (!RetryPolicy::has_begun(state)) {
      unsent = true;
      ++requests_;
      ++unsent_;
      traced = trace_ && trace_->begin(now(), index);
    }
    const auto ask = [&](RetryProcess* process) {
      return behaviour_.may_send(now(), state, process, random);
    };
    Permission permission = with_process(index, ask);
    const bool waited = permission.kind == Permission::Kind::kWait;
    if (waited) permission = wait_for_permission(index, permission, next.retry, ask);
    if (stopping_) break;
    const TimePoint begun = state.begun;
    const bool is_retry = next.retry;
    if (permission.kind != Permission::Kind::kSend) {
      if (permission.kind == Permission::Kind::kRefused) ++not_sent_;
      const TimePoint end = now();
      next = with_process(index, [&](RetryProcess* process) {
        return behaviour_.after_refusal(end, permission.kind, state, process, random, metrics);
      });
      count_end(next, is_retry, end - begun);
      if (traced) trace_->not_sent(end, index, permission.kind, next);
      continue;
    }
    if (std::exchange(unsent, false)) {
      --unsent_;
    } else {
      ++retries_;
    }
    ++in_flight_;
    const TimePoint sent = now();
    const Duration left = behaviour_.policy().time_left(sent, state);
    if (traced) trace_->sent(sent, index);
    std::optional<Duration> service;
    const AttemptResult result =
        attempt.run(std::min(options_.timeout, left), traced ? &service : nullptr);
    const TimePoint end = now();
    --in_flight_;
    if (stopping_) break;

    next = with_process(index, [&](RetryProcess* process) {
      return behaviour_.after(end, result, state, process, random, metrics);
    });
    count(result.outcome);
    count_end(next, is_retry, end - begun);
    histograms_.add_attempt(result.outcome, result.latency);
    if (traced) trace_->ended(end, index, result, service, next);
    if (result.outcome == Outcome::kOk) {
      // A request of one attempt took as long as that.
      const Duration request_time = is_retry || waited ? end - begun : result.latency;
      histograms_.add_request(TimeHistograms::RequestResult::kSucceeded, request_time);
      const std::scoped_lock lock(history_mutex_);
      history_.latencies.add_ok(result.latency, request_time);
      history_.longest_without_ok = std::max(history_.longest_without_ok, end - last_ok.load());
      last_ok = end;
    }
  }

  const std::scoped_lock lock(history_mutex_);
  history_.retry_metrics += metrics;
  history_.longest_without_ok = std::max(history_.longest_without_ok, now() - last_ok.load());
  last_ok = TimePoint::max();
  --running_;
}

}  // namespace retrystorm
