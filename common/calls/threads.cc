#include "common/calls/threads.h"

#include <system_error>

#include "common/os/process.h"

namespace retrystorm {

bool PlaceThreads::start(Task task) {
  std::vector<std::jthread> ended;  // joined at the end, without the lock
  bool started = true;
  {
    const std::scoped_lock lock(mutex_);
    if (stopping_) return false;
    ended.swap(ended_);
    if (free_.empty()) {
      if (places_.size() == most_) return false;
      free_.push_back(places_.size());
      places_.emplace_back();
    }
    const std::size_t index = free_.back();
    Place& place = places_[index];
    if (place.thread.joinable()) {
      place.given.notify_one();
    } else {
      try {
        place.thread = std::jthread(&PlaceThreads::run, this, index, std::ref(place));
        ++threads_;
      } catch (const std::system_error&) {
        started = false;
      }
    }
    if (started) {
      place.task = std::move(task);
      free_.pop_back();
    }
  }
  return started;
}

void PlaceThreads::run(std::size_t index, Place& place) {
  std::unique_lock lock(mutex_);
  const auto wanted = [&] { return place.task || stopping_; };
  while (place.given.wait_for(lock, idle_time_, wanted) && place.task) {
    Task task = std::exchange(place.task, nullptr);
    lock.unlock();
    task(index);
    task = nullptr;  // and what it holds
    lock.lock();
    free_.push_back(index);
  }
  --threads_;
  if (!stopping_) ended_.push_back(std::move(place.thread));
}

void PlaceThreads::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    for (Place& each : places_) each.given.notify_one();
  }
  // From now on no thread touches these any more.
  ended_.clear();
  for (Place& each : places_) each.thread = {};
}

std::size_t PlaceThreads::size() const {
  const std::scoped_lock lock(mutex_);
  return threads_;
}

bool ClientWaits::wait(Duration duration) {
  const TimePoint until = bounded(saturating_add(Clock::now(), duration));
  std::unique_lock lock(mutex_);
  return !changed_.wait_until(lock, until, [this] { return stopping_.load(); });
}

std::optional<TimePoint> ClientWaits::wait_at_load(TimePoint from, Duration time) {
  std::unique_lock lock(mutex_);
  while (true) {
    const double load = load_;
    const TimePoint due = saturating_add(from, scale(time, 1 / load));
    const auto changed = [&] { return stopping_ || load_ != load; };
    if (!changed_.wait_until(lock, bounded(due), changed)) return due;
    if (stopping_) return std::nullopt;
    const TimePoint now = Clock::now();
    if (now >= due) return due;  // it was over before the load changed: this thread woke late
    time = std::max(time - scale(now - from, load), Duration::zero());
    from = now;
  }
}

void ClientWaits::set_load(double load) {
  const std::scoped_lock lock(mutex_);
  load_ = load;
  changed_.notify_all();
}

void ClientWaits::stop() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
}

}  // namespace retrystorm
