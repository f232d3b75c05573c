// Threads for requests that come from outside and wait for nobody.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "model/base/duration.h"

namespace retrystorm {

// A request that comes from outside.
struct Arrival {
  std::uint64_t number = 0;  // from 0
  TimePoint due{};           // when it was to begin
};

// As many threads as there are requests under way, up to a bound. Each has a place, a number from
// 0; the place that became free last is taken first, as in the simulator, so that those that are
// not needed any more stay idle, and after a while their threads end.
class ArrivalThreads {
 public:
  // `serve` is called on the place's thread with one arrival after the other; whoever owns this
  // object makes it return before `stop`.
  ArrivalThreads(std::size_t most, Duration idle_time,
                 std::function<void(std::size_t place, const Arrival&)> serve);
  ~ArrivalThreads() { stop(); }

  ArrivalThreads(const ArrivalThreads&) = delete;
  ArrivalThreads& operator=(const ArrivalThreads&) = delete;

  // Has it served at once. False when there is no thread for it: all are busy and there are as many
  // as there may be, or the system has no more. Not from two threads at once, and not after `stop`.
  bool start(const Arrival& arrival);

  // Waits until all threads have ended.
  void stop();

  // How many threads there are. Safe from any thread.
  std::size_t size() const;

 private:
  struct Place {
    std::thread thread;
    std::optional<Arrival> arrival;  // to be served
    std::condition_variable given;
  };

  void run(std::size_t index, Place& place);

  const std::size_t most_;
  const Duration idle_time_;
  const std::function<void(std::size_t, const Arrival&)> serve_;

  mutable std::mutex mutex_;
  std::deque<Place> places_;
  std::vector<std::size_t> free_;   // places; the last one became free last
  std::vector<std::thread> ended_;  // to be joined
  std::size_t threads_ = 0;
  bool stopping_ = false;
};

}  // namespace retrystorm
