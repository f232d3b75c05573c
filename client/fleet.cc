#include "client/fleet.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "common/os/process.h"
#include "model/run/open_arrivals.h"

namespace retrystorm {

using namespace std::chrono_literals;

namespace {

// So long a thread that serves arrivals waits for its next one.
constexpr Duration kIdleTime = 10s;

}  // namespace

Fleet::Fleet(const WorkloadOptions& options, std::uint64_t seed, const HttpRequest& request,
             const FleetLimits& limits)
    : options_(options),
      seed_(seed),
      request_(request),
      limits_(limits),
      behaviour_(options.mean_think_time(), options.retry),
      places_(is_open() ? limits.max_threads : options.clients),
      last_ok_(places_),
      attempts_(places_),
      arrival_threads_(places_, kIdleTime, [this](std::size_t place, const Arrival& arrival) {
        serve(place, arrival);
      }) {
  if (behaviour_.policy().has_process()) {
    for (std::size_t i = 0; i < places_; i += options.clients_per_process) {
      Process& process = processes_.emplace_back();
      // Those of an open system begin with the first request that comes to them.
      if (!is_open()) process.parts = behaviour_.policy().make_process(now());
    }
  }
  if (options.arrivals == Arrivals::kJob) {
    job_.emplace(options);
    pauses_ = std::vector<std::atomic<Duration>>(places_);
  }
  // All before the first client runs: whoever asks for the history goes through them.
  const bool there = options.arrivals == Arrivals::kClosed;
  for (LastOk& each : last_ok_) each = there ? now() : TimePoint::max();
}

Fleet::~Fleet() {
  stop();
}

void Fleet::start() {
  if (is_open()) {
    threads_.emplace_back(&Fleet::run_arrivals, this);
    return;
  }
  threads_.reserve(options_.clients);
  try {
    for (std::size_t i = 0; i < options_.clients; ++i) {
      threads_.emplace_back(job_ ? &Fleet::run_worker : &Fleet::run_client, this, i);
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
  // In an open system nobody thinks: requests come from outside.
  std::size_t all = is_open() ? 0 : options_.clients;
  if (job_) {
    const std::scoped_lock lock(job_->mutex);
    all = job_->job.present();
  }
  FleetTotals totals{
      .counts = {.ok = ok_,
                 .errors = errors_,
                 .timed_out = timed_out_,
                 .requests = requests_,
                 .retries = retries_,
                 .not_sent = not_sent_,
                 .throttled = throttled_,
                 .unsent = unsent_,
                 .failing = failing_},
      .clients = {.thinking = all - std::min(all, in_flight + waiting),
                  .in_flight = in_flight,
                  .waiting_to_retry = waiting},
      .punctuality = {.dropped_arrivals = dropped_arrivals_, .latest_start = latest_start_}};
  std::copy(gave_up_by_.begin(), gave_up_by_.end(), totals.counts.gave_up_by.begin());
  if (job_) {
    Duration pauses{0};
    for (const auto& each : pauses_) pauses += each.load();
    totals.clients.mean_pause =
        all == 0 ? Duration::zero() : pauses / static_cast<std::int64_t>(all);
  }
  return totals;
}

std::optional<JobResult> Fleet::job_result() const {
  if (!job_) return std::nullopt;
  const std::scoped_lock lock(job_->mutex);
  return job_->job.result(job_->ended - TimePoint{});
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
  // First nothing more is to arrive.
  if (is_open()) join();
  // A connect to a frozen server would last for the whole timeout.
  for (; running_ > 0; std::this_thread::sleep_for(5ms)) {
    if (in_flight_ > 0) shut_down_all_sockets(limits_.spared_ports);
  }
  join();
  arrival_threads_.stop();
}

void Fleet::join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

bool Fleet::wait(Duration duration) {
  // A far time point overflows inside the wait of some standard libraries.
  const TimePoint until = Clock::now() + std::min<Duration>(duration, 24h * 365);
  std::unique_lock lock(stop_mutex_);
  return !stop_wanted_.wait_until(lock, until, [this] { return stopping_.load(); });
}

std::optional<TimePoint> Fleet::wait_at_load(TimePoint from, Duration time) {
  std::unique_lock lock(stop_mutex_);
  while (true) {
    const double load = load_;
    const TimePoint due = saturating_add(from, scale(time, 1 / load));
    // A far time point overflows inside the wait of some standard libraries.
    const TimePoint until = std::min(due, Clock::now() + 24h * 365);
    const auto changed = [&] { return stopping_ || load_ != load; };
    if (!stop_wanted_.wait_until(lock, until, changed)) return due;
    if (stopping_) return std::nullopt;
    const TimePoint now = Clock::now();
    if (now >= due) return due;  // it was over before the load changed: this thread woke late
    time -= scale(now - from, load);
    from = now;
  }
}

void Fleet::set_load(double load) {
  {
    const std::scoped_lock lock(stop_mutex_);
    load_ = load;
  }
  stop_wanted_.notify_all();
}

bool Fleet::wait_to_retry(Duration duration) {
  histograms_.add_retry_wait(duration);
  ++waiting_to_retry_;
  const bool goes_on = wait(duration);
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
  if (process.parts == nullptr) process.parts = behaviour_.policy().make_process(now());
  return ask(process.parts.get());
}

template <typename Ask>
Permission Fleet::wait_for_permission(std::uint64_t client, Permission permission, bool retry,
                                      Ask ask) {
  const TimePoint begin = now();
  set_pause(client, permission.wait);
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

void Fleet::run_client(std::uint64_t index) {
  Client client{.index = index, .random = ClientRandom(seed_, index)};
  std::optional next{NextAttempt{.think = behaviour_.start(client.state, client.random)}};
  while (next && wait(next->wait) && wait_at_load(Clock::now(), next->think)) {
    next = run_request(client);
  }
  retire(client);
}

void Fleet::run_worker(std::uint64_t index) {
  Client client{.index = index, .random = ClientRandom(seed_, index)};
  behaviour_.start(client.state, client.random);
  std::optional<std::size_t> worker;
  if (wait(scale(options_.job.workers_start, static_cast<double>(index)))) {
    const std::scoped_lock lock(job_->mutex);
    if (job_->job.next_start()) worker = job_->job.start();
  }
  if (worker) last_ok_[index] = now();
  while (worker) {
    const auto next = run_request(client);
    if (!next) break;
    const TimePoint end = now();
    {
      const std::scoped_lock lock(job_->mutex);
      if (!job_->job.next_call(*worker)) worker.reset();
      if (job_->job.all_done()) {
        job_->ended = end;
        job_done_ = true;
      }
    }
    if (!worker || !wait(next->wait)) break;
  }
  set_pause(index, Duration::zero());
  retire(client);
}

void Fleet::run_arrivals() {
  OpenArrivals arrivals(seed_, options_.rate);
  // From one moment at which one was due to the next: lateness does not add up.
  auto due = wait_at_load(Clock::now(), arrivals.next_gap());
  for (std::uint64_t number = 0; due; ++number) {
    ++running_;
    if (!arrival_threads_.start({.number = number, .due = *due})) {
      --running_;
      ++dropped_arrivals_;
    }
    due = wait_at_load(*due, arrivals.next_gap());
  }
}

void Fleet::serve(std::size_t place, const Arrival& arrival) {
  const Duration late = Clock::now() - arrival.due;
  Duration latest = latest_start_;
  while (late > latest && !latest_start_.compare_exchange_weak(latest, late)) {
  }
  Client client{.index = place, .random = ClientRandom(seed_, arrival.number)};
  behaviour_.start(client.state, client.random);
  last_ok_[place] = now();
  run_request(client);
  retire(client);
}

std::optional<NextAttempt> Fleet::run_request(Client& client) {
  ++requests_;
  ++unsent_;
  Request request{.traced = trace_ && trace_->begin(now(), client.index)};
  while (true) {
    const auto next = run_attempt(client, request);
    if (!next || !next->retry) return next;
    if (!wait_to_retry(next->wait)) return std::nullopt;
    request.retry = true;
  }
}

std::optional<NextAttempt> Fleet::run_attempt(Client& client, Request& request) {
  const auto ask = [&](RetryProcess* process) {
    return behaviour_.may_send(now(), client.state, process, client.random);
  };
  Permission permission = with_process(client.index, ask);
  request.waited = permission.kind == Permission::Kind::kWait;
  if (request.waited) {
    permission = wait_for_permission(client.index, permission, request.retry, ask);
  }
  if (stopping_) return std::nullopt;
  if (permission.kind == Permission::Kind::kSend) return send(client, request);

  if (permission.kind == Permission::Kind::kRefused) ++not_sent_;
  const TimePoint begun = client.state.begun;
  const TimePoint end = now();
  const NextAttempt next = with_process(client.index, [&](RetryProcess* process) {
    return behaviour_.after_refusal(end, permission.kind, client.state, process, client.random,
                                    client.metrics);
  });
  count_end(next, request.retry, end - begun);
  set_pause(client.index, next.wait);
  if (request.traced) trace_->not_sent(end, client.index, permission.kind, next);
  return next;
}

std::optional<NextAttempt> Fleet::send(Client& client, Request& request) {
  if (std::exchange(request.unsent, false)) {
    --unsent_;
  } else {
    ++retries_;
  }
  std::unique_ptr<HttpAttempt>& attempt = attempts_[client.index];
  if (attempt == nullptr) {
    attempt = std::make_unique<HttpAttempt>(request_, options_.timeout, deadlines_);
  }
  ++in_flight_;
  const TimePoint begun = client.state.begun;
  const TimePoint sent = now();
  // It may have run out since it was asked.
  const Duration left =
      std::max(behaviour_.policy().time_left(sent, client.state), Duration::zero());
  if (request.traced) trace_->sent(sent, client.index);
  std::optional<Duration> service;
  const AttemptResult result =
      attempt->run(std::min(options_.timeout, left), request.traced ? &service : nullptr);
  const TimePoint end = now();
  --in_flight_;
  if (stopping_) return std::nullopt;

  const NextAttempt next = with_process(client.index, [&](RetryProcess* process) {
    return behaviour_.after(end, result, client.state, process, client.random, client.metrics);
  });
  count(result.outcome);
  if (result.failure == Failure::kThrottled) ++throttled_;
  count_end(next, request.retry, end - begun);
  set_pause(client.index, next.wait);
  histograms_.add_attempt(result.outcome, result.latency);
  if (request.traced) trace_->ended(end, client.index, result, service, next);
  if (result.outcome == Outcome::kOk) {
    // A request of one attempt took as long as that.
    const Duration request_time = request.retry || request.waited ? end - begun : result.latency;
    histograms_.add_request(TimeHistograms::RequestResult::kSucceeded, request_time);
    LastOk& last_ok = last_ok_[client.index];
    const std::scoped_lock lock(history_mutex_);
    history_.latencies.add_ok(result.latency, request_time);
    history_.longest_without_ok = std::max(history_.longest_without_ok, end - last_ok.load());
    last_ok = end;
  }
  return next;
}

void Fleet::retire(Client& client) {
  LastOk& last_ok = last_ok_[client.index];
  const std::scoped_lock lock(history_mutex_);
  history_.retry_metrics += client.metrics;
  history_.longest_without_ok = std::max(history_.longest_without_ok, now() - last_ok.load());
  last_ok = TimePoint::max();
  --running_;
}

}  // namespace retrystorm
