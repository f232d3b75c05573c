#include "server/service_pool.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace retrystorm {
namespace {

constexpr std::size_t kFirstWorkers = 4;
// A worker is blocked while its client dawdles. This many clients must dawdle at once before a
// good one has to wait for the read timeout.
constexpr std::size_t kMostWorkers = 512;
// All workers count as blocked when connections are ready and none was taken for so long.
constexpr Duration kStall = std::chrono::milliseconds(5);

ServerInterval sum(const ServerInterval& a, const ServerInterval& b) {
  return {.arrivals = a.arrivals + b.arrivals,
          .departures = a.departures + b.departures,
          .rejected_429 = a.rejected_429 + b.rejected_429,
          .rejected_503 = a.rejected_503 + b.rejected_503};
}

thread_local Admission current_admission_of_thread = Admission::kServe;
thread_local Duration current_retry_after_of_thread{0};

}  // namespace

Admission ServicePool::current_admission() {
  return current_admission_of_thread;
}
Duration ServicePool::current_retry_after() {
  return current_retry_after_of_thread;
}

ServicePool::ServicePool(const ServiceOptions& options)
    : max_connections_(options.max_connections),
      queue_(options.curve()),
      admission_(options.admission()) {
  try {
    const std::scoped_lock lock(mutex_);
    for (std::size_t i = 0; i < kFirstWorkers; ++i) {
      workers_.emplace_back(&ServicePool::answer, this);
    }
    timer_ = std::thread(&ServicePool::watch_front, this);
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

void ServicePool::accept(Job job) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [this] { return stopping_ || connections() < max_connections_; });
  const TimePoint now = Clock::now();
  const Admission admission = admission_.admit(now, queue_.concurrency());
  if (admission == Admission::kServe) {
    ++interval_.arrivals;
    queue_.arrive(now, std::move(job));
  } else {
    ++turned_away_;
    ++(admission == Admission::kShed ? interval_.rejected_503 : interval_.rejected_429);
    ready_.push_back({std::move(job), admission, admission_.retry_after(admission)});
  }
  release_due();
}

void ServicePool::release_due() {
  const TimePoint now = Clock::now();
  while (auto job = stopping_ ? queue_.take_front() : queue_.depart(now)) {
    ready_.push_back({std::move(*job)});
  }
  for (std::size_t i = std::min(ready_.size(), idle_); i > 0; --i) work_.notify_one();

  // The timer is told only when it would wake too late: for the front, or to look for a stall.
  const TimePoint stall = ready_.empty() ? TimePoint::max() : now + kStall;
  if (std::min(queue_.next_departure(), stall) < timer_wakes_at_) front_changed_.notify_one();
}

void ServicePool::watch_front() {
  std::unique_lock lock(mutex_);
  std::uint64_t started_before = 0;
  TimePoint stall = TimePoint::max();
  while (!stopping_) {
    release_due();
    const TimePoint now = Clock::now();
    if (ready_.empty()) {
      stall = TimePoint::max();
    } else if (stall == TimePoint::max() || started_ != started_before) {
      stall = now + kStall;
    } else if (now >= stall) {
      grow();
      stall = now + kStall;
    }
    started_before = started_;
    timer_wakes_at_ = std::min(queue_.next_departure(), stall);
    // A far time point overflows inside the wait of some standard libraries.
    front_changed_.wait_until(lock, std::min(timer_wakes_at_, now + std::chrono::hours(1)));
    timer_wakes_at_ = TimePoint::min();  // awake: needs no notification
  }
  release_due();
}

void ServicePool::grow() {
  const std::size_t wanted = std::min(ready_.size(), kMostWorkers - workers_.size());
  try {
    for (std::size_t i = 0; i < wanted; ++i) workers_.emplace_back(&ServicePool::answer, this);
  } catch (const std::system_error&) {
    // No more threads to be had: those that are there go on.
  }
}

void ServicePool::answer() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    work_.wait(lock, [this] { return stopping_ || !ready_.empty(); });
    --idle_;
    if (ready_.empty()) return;

    Connection connection = std::move(ready_.front());
    ready_.pop_front();
    ++started_;
    lock.unlock();
    current_admission_of_thread = connection.admission;
    current_retry_after_of_thread = connection.retry_after;
    connection.job();
    lock.lock();

    if (connection.admission == Admission::kServe) {
      queue_.leave();
      ++interval_.departures;
    } else {
      --turned_away_;
    }
    if (connections() + 1 == max_connections_) room_.notify_one();
    release_due();
  }
}

void ServicePool::stop() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  release_due();
  front_changed_.notify_all();
  work_.notify_all();
  room_.notify_all();
}

void ServicePool::join() {
  if (timer_.joinable()) timer_.join();  // from here on the pool no longer grows
  for (std::thread& worker : workers_) {
    if (worker.joinable()) worker.join();
  }
}

ServerInterval ServicePool::take_interval() {
  const std::scoped_lock lock(mutex_);
  interval_.concurrency = queue_.concurrency();
  interval_.last_delay = queue_.current_delay();
  taken_ = sum(taken_, interval_);
  return std::exchange(interval_, {});
}

ServerInterval ServicePool::totals() const {
  const std::scoped_lock lock(mutex_);
  ServerInterval totals = sum(taken_, interval_);
  totals.concurrency = queue_.concurrency();
  totals.last_delay = queue_.current_delay();
  return totals;
}

}  // namespace retrystorm
