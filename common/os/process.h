// What the real programs ask of the operating system: descriptors, signals, sockets at the end.
#pragma once

#include <csignal>
#include <cstddef>
#include <thread>
#include <vector>

#include "model/base/duration.h"

namespace retrystorm {

// Raises the soft limit on open files to the hard one. Returns how many this process may open.
std::size_t raise_descriptor_limit();

// The longest accept queue that the kernel gives a listening socket; it shortens longer ones
// without a word.
std::size_t longest_backlog();

// The signals that end a program, taken in at one place instead of in handlers. Construct it before
// the first thread starts, for threads inherit the blocked signals. Also ignores SIGPIPE.
class EndSignals {
 public:
  EndSignals();

  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // Waits for a signal, at most until `deadline`. Returns whether one came. One thread at a time.
  bool wait_until(TimePoint deadline) const;

 private:
  sigset_t set_;
};

// Shuts down every network socket of this process, so that every thread that is blocked on one
// returns. Spared are the standard streams and what is bound to one of `spared_ports`: the
// listeners there and the connections that they accepted.
void shut_down_all_sockets(const std::vector<int>& spared_ports = {});

// For the end of a program: from `begin` and a grace on it shuts down all sockets, again and again
// until it is destroyed, so that nobody who says nothing holds up a thread. Declare it before
// whatever has such threads.
class SocketCloser {
 public:
  // Once.
  void begin(Duration grace);

 private:
  std::jthread thread_;
};

}  // namespace retrystorm
