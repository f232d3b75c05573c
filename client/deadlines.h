// Ends attempts that have lasted their whole timeout.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

#include "model/base/duration.h"

namespace retrystorm {

// What a deadline can interrupt. `expire` is called from the deadlines' thread and must make the
// attempt of that number return soon; one that is over already is left alone.
class Expiring {
 public:
  virtual void expire(std::uint64_t attempt) = 0;

 protected:
  ~Expiring() = default;
};

// cpp-httplib 0.11 has no total deadline: its read timeout starts anew with each byte. The timeout
// is the same for all, so the attempts expire in the order in which they began: a FIFO and one
// thread are enough. Safe from any thread.
class Deadlines {
 public:
  explicit Deadlines(Duration timeout);
  ~Deadlines();

  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  Duration timeout() const { return timeout_; }

  // The attempt begins now. `who` must outlive this object's thread, or the timeout.
  void begin(Expiring& who, std::uint64_t attempt);

 private:
  struct Deadline {
    TimePoint time;
    Expiring* who;
    std::uint64_t attempt;
  };

  void run();

  const Duration timeout_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Deadline> queue_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace retrystorm
