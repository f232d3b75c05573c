// The kernel's part of a server: the connections that nobody has accepted yet.
#pragma once

#include <chrono>
#include <cstddef>

#include "model/base/duration.h"
#include "model/base/fifo.h"
#include "simulator/caller.h"

namespace retrystorm {

// Of the kernel it models what decides the outcome: a queue of backlog + 1 connections, which goes
// on filling while the server is stopped, in which connections stay when their client has hung up,
// and which is full to further SYNs.
class AcceptQueue {
 public:
  // A SYN that finds the queue full is dropped, and the client's kernel sends it again. The timer
  // is 1 s, but the kernel's clock ticks make it a little longer: at exactly 1 s the model
  // disagrees with the kernel by a third. (Linux repeats at this pace four times, then slower.)
  static constexpr Duration kSynRepeat = std::chrono::milliseconds(1010);

  explicit AcceptQueue(std::size_t backlog) : backlog_(backlog) {}

  bool empty() const { return queue_.empty(); }

  // Returns whether there was room; if not, the SYN comes again.
  bool connect(TimePoint now, const Attempt& attempt) {
    if (queue_.size() > backlog_) {
      repeats_.push({now + kSynRepeat, attempt});
      return false;
    }
    queue_.push(attempt);
    return true;
  }

  // The connection that has waited longest; there must be one.
  Attempt accept() {
    const Attempt attempt = queue_.front();
    queue_.pop();
    return attempt;
  }

  // When the next SYN is due to be repeated, `TimePoint::max()` when none is.
  TimePoint next_repeat() const {
    return repeats_.empty() ? TimePoint::max() : repeats_.front().time;
  }

  // Whose it is: for `connect`, unless it has hung up.
  Attempt take_repeat() {
    const Attempt attempt = repeats_.front().attempt;
    repeats_.pop();
    return attempt;
  }

  // Whose turn to repeat it is `ahead` SYNs later, or sooner; there must be a repeat.
  const Attempt& repeat_ahead(std::size_t ahead) const { return repeats_.peek(ahead).attempt; }

 private:
  // What has a constant delay needs no ordering.
  struct Repeat {
    TimePoint time;
    Attempt attempt;
  };

  std::size_t backlog_;
  Fifo<Attempt> queue_;
  Fifo<Repeat> repeats_;
};

}  // namespace retrystorm
