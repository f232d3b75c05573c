// The kernel's part of a server: the connections that nobody has accepted yet.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/base/duration.h"
#include "model/base/fifo.h"
#include "simulator/caller.h"
#include "simulator/syn_repeats.h"

namespace retrystorm {

// Of the kernel it models what decides the outcome: a queue of backlog + 1 connections, which goes
// on filling while the server is stopped, in which connections stay when their client has hung up,
// and which is full to further SYNs.
class AcceptQueue {
 public:
  // A SYN that finds the queue full is dropped, and the client's kernel sends it again (see
  // `SynRepeats`).
  AcceptQueue(std::size_t backlog, std::size_t syn_linear_timeouts, Duration patience)
      : backlog_(backlog), repeats_(syn_linear_timeouts, patience) {}

  bool empty() const { return queue_.empty(); }

  // Returns whether there was room for the SYN, or for the `sent`th repeat of it; if not, it comes
  // again.
  bool connect(TimePoint now, const Attempt& attempt, std::uint32_t sent = 0) {
    if (queue_.size() > backlog_) {
      repeats_.drop(now, attempt, sent);
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

  // Those that come again: for `connect`, unless their client has hung up.
  SynRepeats& repeats() { return repeats_; }
  const SynRepeats& repeats() const { return repeats_; }

 private:
  std::size_t backlog_;
  Fifo<Attempt> queue_;
  SynRepeats repeats_;
};

}  // namespace retrystorm
