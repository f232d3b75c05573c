#include "client/arrival_threads.h"

#include <functional>
#include <system_error>
#include <utility>

namespace retrystorm {

ArrivalThreads::ArrivalThreads(std::size_t most, Duration idle_time,
                               std::function<void(std::size_t, const Arrival&)> run_request)
    : most_(most), idle_time_(idle_time), run_request_(std::move(run_request)) {}

bool ArrivalThreads::start(const Arrival& arrival) {
  std::vector<std::thread> ended;
  bool started = true;
  {
    const std::scoped_lock lock(mutex_);
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
        place.thread = std::thread(&ArrivalThreads::run, this, index, std::ref(place));
        ++threads_;
      } catch (const std::system_error&) {
        started = false;
      }
    }
    if (started) {
      place.arrival = arrival;
      free_.pop_back();
    }
  }
  for (std::thread& each : ended) each.join();
  return started;
}

void ArrivalThreads::run(std::size_t index, Place& place) {
  std::unique_lock lock(mutex_);
  const auto wanted = [&] { return place.arrival || stopping_; };
  while (place.given.wait_for(lock, idle_time_, wanted) && place.arrival) {
    const Arrival arrival = *std::exchange(place.arrival, std::nullopt);
    lock.unlock();
    run_request_(index, arrival);
    lock.lock();
    free_.push_back(index);
  }
  --threads_;
  if (!stopping_) ended_.push_back(std::move(place.thread));
}

void ArrivalThreads::stop() {
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

std::size_t ArrivalThreads::size() const {
  const std::scoped_lock lock(mutex_);
  return threads_;
}

}  // namespace retrystorm
