#include "client/fleet.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <system_error>

#include "common/os/process.h"

namespace retrystorm {

using namespace std::chrono_literals;

Fleet::Fleet(const WorkloadOptions& options, std::uint64_t seed, const Url& url,
             const std::vector<int>& spared_ports)
    : options_(options),
      seed_(seed),
      url_(url),
      spared_ports_(spared_ports),
      behaviour_(options.think_time, options.retry),
      deadlines_(options.timeout) {
  // All before the first client runs: whoever asks for the history goes through them.
  for (std::size_t i = 0; i < options.clients; ++i) {
    attempts_.emplace_back(url_, deadlines_);
    last_ok_.emplace_back(Clock::now());
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
  return {
      .counts = {.ok = ok_,
                 .errors = errors_,
                 .timed_out = timed_out_,
                 .requests = requests_,
                 .retries = retries_,
                 .gave_up = gave_up_},
      .clients = {.thinking = options_.clients - std::min(options_.clients, in_flight + waiting),
                  .in_flight = in_flight,
                  .waiting_to_retry = waiting}};
}

FleetHistory Fleet::history() const {
  const std::scoped_lock lock(history_mutex_);
  FleetHistory history = history_;
  const TimePoint now = Clock::now();
  for (const LastOk& last_ok : last_ok_) {
    const TimePoint last = last_ok;
    if (last == TimePoint::max()) continue;
    history.longest_without_ok = std::max(history.longest_without_ok, now - last);
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

bool Fleet::wait(const NextAttempt& next) {
  if (!next.retry) return wait(next.wait);
  histograms_.add_retry_wait(next.wait);
  ++waiting_to_retry_;
  const bool goes_on = wait(next.wait);
  --waiting_to_retry_;
  return goes_on;
}

void Fleet::count(Outcome outcome, bool gave_up) {
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
  if (gave_up) ++gave_up_;
}

void Fleet::run_client(std::uint64_t index, HttpAttempt& attempt, LastOk& last_ok) {
  ClientRandom random(seed_, index);
  RetryState state;
  RetryMetrics metrics;

  NextAttempt next{.wait = behaviour_.start(state, random)};
  while (wait(next)) {
    ++(next.retry ? retries_ : requests_);
    ++in_flight_;
    behaviour_.may_send(Clock::now(), state, nullptr, random);
    const AttemptResult result = attempt.run();
    const TimePoint end = Clock::now();
    --in_flight_;
    if (stopping_) break;

    next = behaviour_.after(end, result, state, nullptr, random, metrics);
    count(result.outcome, next.gave_up.has_value());
    histograms_.add_attempt(result.outcome, result.latency);
    if (result.outcome == Outcome::kOk) {
      const std::scoped_lock lock(history_mutex_);
      history_.latency.add(result.latency);
      history_.longest_without_ok = std::max(history_.longest_without_ok, end - last_ok.load());
      last_ok = end;
    }
  }

  const std::scoped_lock lock(history_mutex_);
  history_.retry_metrics += metrics;
  history_.longest_without_ok =
      std::max(history_.longest_without_ok, Clock::now() - last_ok.load());
  last_ok = TimePoint::max();
  --running_;
}

}  // namespace retrystorm
