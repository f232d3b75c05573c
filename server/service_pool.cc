#include "server/service_pool.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "common/os/process.h"
#include "server/upstream.h"

namespace retrystorm {
namespace {

constexpr std::size_t kFewestWorkers = 4;
// A slow client blocks its worker. Only when this many clients are slow at the same time does a
// normal client have to wait for a read timeout.
constexpr std::size_t kMostWorkers = 512;
// How long a ready connection may wait for a worker before more workers are started.
constexpr Duration kStall = std::chrono::milliseconds(5);
// How long workers may be surplus before they end.
constexpr Duration kCalm = std::chrono::seconds(1);

// What a worker passes to its job (`answer`, `arrived`), and what the job reports (`served`).
struct CurrentJob {
  Answer answer;
  TimePoint arrived;
  bool served = false;
};
thread_local CurrentJob current_job;

// A request may arrive a moment after its connection: waits for it, so that its calls know its deadline.
TimePoint await_deadline(const std::function<std::optional<Duration>()>& time_left,
                         TimePoint arrived) {
  constexpr Duration kMoment = std::chrono::milliseconds(100);
  auto left = time_left();
  while (!left && Clock::now() < arrived + kMoment) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    left = time_left();
  }
  return saturating_add(arrived, left.value_or(Duration::max()));
}

}  // namespace

const Answer& ServicePool::current_answer() {
  return current_job.answer;
}
Duration ServicePool::current_service_time() {
  return Clock::now() - current_job.arrived;
}
void ServicePool::count_as_served() {
  current_job.served = true;
}

TimePoint ServicePool::Job::until() const {
  if (deadline_ != kNotRead) return deadline_;
  const auto read = time_left();
  const auto left = read ? read() : Duration::max();
  if (left) deadline_ = saturating_add(arrived_, *left);
  return left ? deadline_ : TimePoint::max();
}

ServicePool::ServicePool(const ServiceOptions& options, std::uint64_t seed, Upstream* upstream,
                         bool keeps_deadlines)
    : max_connections_(options.most_connections()),
      upstream_(upstream),
      service_(options, seed, Clock::now()) {
  service_.record_times();
  const bool skips = options.abandoned == Abandoned::kSkip;
  if (skips || keeps_deadlines) {
    service_.skip_if([skips](const Parked& job) {
      return (skips && job->is_abandoned()) || job->until() < Clock::now();
    });
  }
  if (upstream_ != nullptr && options.capacity == Capacity::kWorkers) {
    if (upstream_->holds_workers()) service_.hold_workers();
    service_.serve_first(upstream_->first_share());
  }
  try {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < kFewestWorkers; ++i) add_worker();
    timer_ = std::jthread(&ServicePool::watch_service, this);
  } catch (const std::system_error& error) {
    stop();
    join();
    throw std::runtime_error(std::string("cannot start the server's threads: ") + error.what());
  }
}

ServicePool::~ServicePool() {
  stop();
  join();
}

void ServicePool::accept(Parked job) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [this] {
    return stopping_ || turns_away_ || service_.connections() < max_connections_;
  });
  arrive(std::move(job), Clock::now());
}

void ServicePool::take_in(Parked job) {
  const std::scoped_lock lock(mutex_);
  arrive(std::move(job), Clock::now());
}

void ServicePool::arrive(Parked job, TimePoint now) {
  if (turns_away_ && !stopping_) return turned_away_.push_back(std::move(job));
  job->arrived_ = now;
  const Answer decision = service_.arrive(now, job).answer;
  if (decision.rejection) answer_soon({std::move(job), decision, now, now, {}}, now);
  release_due();
}

void ServicePool::answer_soon(Connection connection, TimePoint now) {
  if (connection.answer.rejection != Rejection::kAbandoned) {
    return ready_.push_back(std::move(connection));
  }
  // Nobody waits for an answer. The connection is closed here.
  service_.leave(now, connection.answer, false);
  room_.notify_one();
}

void ServicePool::begin_calls(Connection connection, TimePoint now) {
  const Job& job = *connection.job;
  std::function<TimePoint()> deadline = [known = job.until()] { return known; };
  if (job.deadline_ == Job::kNotRead) {
    deadline = [read = job.time_left(), arrived = job.arrived_] {
      return await_deadline(read, arrived);
    };
  }
  const auto calling = std::make_shared<Calling>(Calling{.connection = std::move(connection)});
  calling_.insert(calling);
  const bool started =
      upstream_->start(std::move(deadline), calling->let_go,
                       [this, calling](const Answer& answer) { calls_over(calling, answer); });
  if (started) return;
  calling_.erase(calling);
  calling->connection.answer = {.failed = true, .with = kUnavailable};
  answer_soon(std::move(calling->connection), now);
}

void ServicePool::calls_over(const std::shared_ptr<Calling>& calling, const Answer& answer) {
  const std::scoped_lock lock(mutex_);
  if (calling_.erase(calling) == 0) return;  // a restart has lost it
  const TimePoint now = Clock::now();
  Connection& connection = calling->connection;
  if (answer.ok() && upstream_->first_share() < 1 && !stopping_) {
    connection.job->called_ = true;
    service_.resume(now, std::move(connection.job), connection.admitted);
  } else {
    connection.answer = answer;
    connection.ready_at = now;
    answer_soon(std::move(connection), now);
  }
  release_due();
}

void ServicePool::release_due() {
  const TimePoint now = Clock::now();
  while (auto taken = stopping_ ? service_.take_any() : service_.take(now)) {
    try {
      Connection connection{std::move(taken->item), taken->answer, now, taken->admitted, {}};
      if (connection.job->called_) connection.answer = {};
      const bool calls = upstream_ != nullptr && !connection.job->called_ && !stopping_;
      if (calls && connection.answer.ok()) {
        begin_calls(std::move(connection), now);
      } else {
        answer_soon(std::move(connection), now);
      }
    } catch (const std::bad_alloc&) {
      service_.lose(taken->answer);  // its connection is closed
    }
  }
  for (std::size_t i = std::min(ready_.size(), idle_); i > 0; --i) work_.notify_one();

  // Wakes the timer only if it would wake too late for the service's next event or a stall.
  const TimePoint stall = ready_.empty() ? TimePoint::max() : ready_.front().ready_at + kStall;
  if (std::min(service_.next_event(), stall) < timer_wakes_at_) service_changed_.notify_one();
}

void ServicePool::watch_service() {
  std::unique_lock lock(mutex_);
  TimePoint grown_at = TimePoint::min();
  TimePoint surplus_seen_at = Clock::now();
  while (!stopping_) {
    release_due();
    const TimePoint now = Clock::now();
    TimePoint stall = TimePoint::max();
    if (!ready_.empty()) {
      // The most recently added threads need time to take effect before more are added.
      stall = std::max(ready_.front().ready_at, grown_at) + kStall;
      if (now >= stall) {
        grow();
        grown_at = now;
        stall = now + kStall;
      }
    }
    TimePoint surplus = TimePoint::max();
    if (workers_.size() > kFewestWorkers) {
      if (now >= surplus_seen_at + kCalm) {
        retire_surplus();
        surplus_seen_at = now;
      }
      surplus = surplus_seen_at + kCalm;
    }
    timer_wakes_at_ = std::min({service_.next_event(), stall, surplus});
    service_changed_.wait_until(lock, bounded(timer_wakes_at_));
    timer_wakes_at_ = TimePoint::min();  // awake: needs no notification
  }
  release_due();
}

void ServicePool::add_worker() {
  workers_.emplace_front();
  try {
    workers_.front() = std::jthread(&ServicePool::work, this, workers_.begin());
  } catch (...) {
    workers_.pop_front();
    throw;
  }
}

void ServicePool::grow() {
  const std::size_t wanted =
      std::min({ready_.size(), workers_.size(), kMostWorkers - workers_.size()});
  retiring_ = 0;
  try {
    for (std::size_t i = 0; i < wanted; ++i) add_worker();
  } catch (const std::exception&) {
    // No more threads, or no memory for them: the existing workers continue.
  }
}

void ServicePool::retire_surplus() {
  ended_workers_.clear();  // joins them
  retiring_ = std::min(least_idle_, workers_.size() - kFewestWorkers);
  for (std::size_t i = 0; i < retiring_; ++i) work_.notify_one();
  least_idle_ = idle_;
}

void ServicePool::work(Workers::iterator self) {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    work_.wait(lock, [this] { return closed_ || !ready_.empty() || retiring_ > 0; });
    --idle_;
    least_idle_ = std::min(least_idle_, idle_);
    if (ready_.empty()) {
      if (closed_) return;
      --retiring_;
      ended_workers_.splice(ended_workers_.end(), workers_, self);
      return;
    }

    Connection connection = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    current_job = {connection.answer, connection.admitted};
    try {
      connection.job->answer();
    } catch (...) {
      // For example, out of memory. Other connections are still served.
    }
    connection.job.reset();
    lock.lock();

    const bool was_full = service_.connections() >= max_connections_;
    switch (connection.state) {
      case Connection::State::kAnswered:
        service_.leave(Clock::now(), connection.answer, current_job.served, connection.admitted);
        break;
      case Connection::State::kLost:
        service_.lose(connection.answer);
        break;
      case Connection::State::kTurnedAway:
        break;
    }
    if (was_full) room_.notify_one();
    release_due();
  }
}

void ServicePool::configure(const ServiceOptions& options) {
  const std::scoped_lock lock(mutex_);
  service_.configure(Clock::now(), options);
  max_connections_ = options.most_connections();
  room_.notify_all();
  release_due();
}

void ServicePool::turn_away(bool all) {
  const std::scoped_lock lock(mutex_);
  turns_away_ = all;
  room_.notify_all();
}

void ServicePool::lose_all() {
  const std::scoped_lock lock(mutex_);
  const TimePoint now = Clock::now();
  while (auto taken = service_.take_any()) {
    ready_.push_back(
        {std::move(taken->item), taken->answer, now, taken->admitted, Connection::State::kLost});
  }
  for (const auto& each : calling_) {
    each->let_go->set();
    service_.lose(each->connection.answer);
    each->connection.state = Connection::State::kTurnedAway;  // it has left the service
    ready_.push_back(std::move(each->connection));
  }
  calling_.clear();
  run_turned_away();
  release_due();
}

void ServicePool::run_turned_away() {
  const TimePoint now = Clock::now();
  for (Parked& job : turned_away_) {
    ready_.push_back({std::move(job), {}, now, now, Connection::State::kTurnedAway});
  }
  turned_away_.clear();
}

void ServicePool::stop() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  for (const auto& each : calling_) each->let_go->set();
  if (upstream_ != nullptr) upstream_->stop();
  run_turned_away();
  release_due();
  service_changed_.notify_all();
  room_.notify_all();
}

void ServicePool::join() {
  if (timer_.joinable()) timer_.join();  // from here on the number of workers is constant
  if (upstream_ != nullptr) upstream_->join();
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    work_.notify_all();
  }
  workers_.clear();
  ended_workers_.clear();
}

ServerInterval ServicePool::take_interval() {
  const std::scoped_lock lock(mutex_);
  return intervals_.take(Clock::now(), service_);
}

ServerInterval ServicePool::totals() const {
  const std::scoped_lock lock(mutex_);
  return {.concurrency = service_.concurrency(),
          .last_delay = service_.current_delay(),
          .workers = service_.worker_state(),
          .capacity = service_.capacity(Clock::now()),
          .counts = service_.counts()};
}

std::size_t ServicePool::workers() const {
  const std::scoped_lock lock(mutex_);
  return workers_.size();
}

}  // namespace retrystorm
