// The kernel's part of a server: connections that are not accepted yet.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/base/duration.h"
#include "model/base/queues.h"
#include "simulator/caller.h"
#include "simulator/syn_repeats.h"

namespace retrystorm {

// Models the parts of the kernel that affect the result: a queue of backlog + 1 connections. It
// keeps filling while the server is stopped. Connections stay in it after their client has hung up.
// When it is full, further SYNs are dropped.
class AcceptQueue {
 public:
  // The client's kernel repeats a dropped SYN (see `SynRepeats`).
  AcceptQueue(std::size_t backlog, std::size_t syn_linear_timeouts, Duration patience)
      : backlog_(backlog), repeats_(syn_linear_timeouts, patience) {}

  bool empty() const { return queue_.empty(); }
  // The SYNs, and their repeats, for which there was no room.
  std::uint64_t dropped() const { return dropped_; }
  // The connections in it, oldest first.
  const Fifo<Attempt>& waiting() const { return queue_; }

  // Returns true if there was room for the SYN, or for its repeat number `sent`. Otherwise it will
  // be repeated.
  bool connect(TimePoint now, const Attempt& attempt, std::uint32_t sent = 0) {
    if (queue_.size() > backlog_) {
      ++dropped_;
      repeats_.drop(now, attempt, sent);
      return false;
    }
    queue_.push(attempt);
    return true;
  }

  // Takes the oldest connection. The queue must not be empty.
  Attempt accept() {
    const Attempt attempt = queue_.front();
    queue_.pop();
    return attempt;
  }

  // Dropped SYNs. When one is due, call `connect` unless its client has hung up.
  SynRepeats& repeats() { return repeats_; }
  const SynRepeats& repeats() const { return repeats_; }

 private:
  std::size_t backlog_;
  Fifo<Attempt> queue_;
  std::uint64_t dropped_ = 0;
  SynRepeats repeats_;
};

}  // namespace retrystorm
