// Threads for calls: for tasks that begin at once; and how they learn that nobody waits any more.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "model/base/duration.h"

namespace retrystorm {

// Of one call, or of several that belong together. With those of `outer`, if there are any, these are let go, too.
// All members are safe from any thread.
class LetGo {
 public:
  explicit LetGo(std::shared_ptr<const LetGo> outer = nullptr) : outer_(std::move(outer)) {}

  void set() { set_ = true; }
  bool is_set() const { return set_ || (outer_ != nullptr && outer_->is_set()); }

 private:
  const std::shared_ptr<const LetGo> outer_;
  std::atomic<bool> set_{false};
};

// One thread per task in progress, up to a limit. Each thread has a place, a number from 0. The
// place that became free last is reused first, as in the simulator. So places that are no longer
// needed stay idle, and their threads end after a while.
class PlaceThreads {
 public:
  using Task = std::function<void(std::size_t place)>;

  // `idle_time`: how long an idle thread waits before it ends.
  PlaceThreads(std::size_t most, Duration idle_time) : most_(most), idle_time_(idle_time) {}
  ~PlaceThreads() { stop(); }

  PlaceThreads(const PlaceThreads&) = delete;
  PlaceThreads& operator=(const PlaceThreads&) = delete;

  // Starts the task at once. Returns false if there is no thread for it: all are busy and the limit is reached, the
  // system has no more threads, or `stop` was called. Safe from any thread.
  bool start(Task task);

  // Waits until all threads have ended. The owner of the tasks must make them end.
  void stop();

  // How many threads there are. Safe from any thread.
  std::size_t size() const;

 private:
  struct Place {
    std::jthread thread;
    Task task;  // the next one to run; empty: none
    std::condition_variable given;
  };

  void run(std::size_t index, Place& place);

  const std::size_t most_;
  const Duration idle_time_;

  mutable std::mutex mutex_;
  std::deque<Place> places_;
  std::vector<std::size_t> free_;    // places; the most recently freed one is last
  std::vector<std::jthread> ended_;  // not joined yet
  std::size_t threads_ = 0;
  bool stopping_ = false;
};

// All members are safe from any thread.
class ClientWaits {
 public:
  // Waits, unless the run stops. Returns false if the run has stopped.
  bool wait(Duration duration);
  // Waits for `time`, counted from `from`, if the load stays as configured. The wait gets shorter
  // or longer when the load changes. Returns when it was over, or nothing if the run has stopped.
  std::optional<TimePoint> wait_at_load(TimePoint from, Duration time);

  // From now on, time in `wait_at_load` passes `load` times as fast. `load` is >= 0.
  void set_load(double load);
  // Ends all waits.
  void stop();
  bool stopping() const { return stopping_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  double load_ = 1;
  std::atomic<bool> stopping_{false};
};

}  // namespace retrystorm
