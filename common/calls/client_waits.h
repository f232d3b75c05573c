// How the clients' threads wait: until it is time, or until the run stops.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "model/base/duration.h"

namespace retrystorm {

// All members are safe from any thread.
class ClientWaits {
 public:
  // Waits, unless the run stops. Returns false if the run has stopped.
  bool wait(Duration duration);
  // Waits for `time`, counted from `from`, if the load stays as configured. The wait gets shorter
  // or longer when the load changes. Returns when it was over, or nothing if the run has stopped.
  std::optional<TimePoint> wait_at_load(TimePoint from, Duration time);

  // From now on, time in `wait_at_load` passes `load` times as fast. `load` is > 0.
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
