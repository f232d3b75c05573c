#include "common/calls/place_threads.h"

#include <functional>
#include <system_error>
#include <utility>

namespace retrystorm {

bool PlaceThreads::start(Task task) {
  std::vector<std::thread> ended;
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
        place.thread = std::thread(&PlaceThreads::run, this, index, std::ref(place));
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
  for (std::thread& each : ended) each.join();
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
  for (std::thread& each : ended_) each.join();
  for (Place& each : places_) {
    if (each.thread.joinable()) each.thread.join();
  }
  ended_.clear();
}

std::size_t PlaceThreads::size() const {
  const std::scoped_lock lock(mutex_);
  return threads_;
}

}  // namespace retrystorm
