// Threads for requests that arrive from outside, independently of the requests in progress.
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
  TimePoint due{};           // when it should begin
};

// One thread per request in progress, up to a limit. Each thread has a place, a number from 0. The
// place that became free last is reused first, as in the simulator. So places that are no longer
// needed stay idle, and their threads end after a while.
class ArrivalThreads {
 public:
  // `run_request` is called on the place's thread, with one arrival after the other. The owner of
  // this object must make it return before `stop`.
  ArrivalThreads(std::size_t most, Duration idle_time,
                 std::function<void(std::size_t place, const Arrival&)> run_request);
  ~ArrivalThreads() { stop(); }

  ArrivalThreads(const ArrivalThreads&) = delete;
  ArrivalThreads& operator=(const ArrivalThreads&) = delete;

  // Starts the request at once. Returns false if there is no thread for it: all are busy and the
  // limit is reached, or the system has no more threads. Not thread-safe. Do not call after `stop`.
  bool start(const Arrival& arrival);

  // Waits until all threads have ended.
  void stop();

  // How many threads there are. Safe from any thread.
  std::size_t size() const;

 private:
  struct Place {
    std::thread thread;
    std::optional<Arrival> arrival;  // the next one to run
    std::condition_variable given;
  };

  void run(std::size_t index, Place& place);

  const std::size_t most_;
  const Duration idle_time_;
  const std::function<void(std::size_t, const Arrival&)> run_request_;

  mutable std::mutex mutex_;
  std::deque<Place> places_;
  std::vector<std::size_t> free_;   // places; the most recently freed one is last
  std::vector<std::thread> ended_;  // not joined yet
  std::size_t threads_ = 0;
  bool stopping_ = false;
};

}  // namespace retrystorm
