// What the real programs need from the operating system: descriptors, signals, closing sockets,
// and what the kernel has set.
#pragma once

extern "C" {  // glibc 2.36 lacks this
#include <sys/pidfd.h>
}

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <semaphore>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "model/base/duration.h"

namespace retrystorm {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  // Of a connection, which `each_connection` knows until it is closed.
  static Descriptor of_connection(int number);
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();

  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_ = -1;
};

// Calls `use` with each connection of this process, which is not closed meanwhile. Leaves out from now on those for
// which it returns true. Needs neither memory nor descriptors. Safe from any thread.
void each_connection(const std::function<bool(int number)>& use);

// Raises the soft limit on open files to the hard limit. Returns the new limit.
std::size_t raise_descriptor_limit();

// Why an option is refused that needs more of these descriptors than are left.
std::string too_many(const std::string& option, std::size_t wanted, std::size_t descriptors,
                     std::size_t left);

// The memory that this process may use, in bytes: the machine's memory, or less if its address
// space is limited (`ulimit -v`).
double memory_limit();

// The longest accept queue that the kernel allows for a listening socket. The kernel silently
// shortens longer ones.
std::size_t longest_backlog();

// Makes sure that descriptors 0 to 2 are in use, also in a program that was started without them.
// Otherwise a file opened later could receive the printed text. The missing ones are opened
// read-only, so writing to them fails.
void occupy_standard_descriptors();

// Receives the signals that end a program on a thread of its own, instead of in handlers. Signals that are
// ignored when the program starts stay ignored, as nohup requires. The first signal requests the
// end. The next one, unless it comes together with the first, has its default action and ends the
// program at once, whatever its other threads wait for. Construct this object before the first thread starts: threads
// inherit the blocked signals. Also ignores SIGPIPE. Safe from any thread.
class EndSignals {
 public:
  // Throws std::runtime_error if no descriptors or threads are left.
  EndSignals();
  ~EndSignals();

  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // Waits until the end is requested, `cancel` is called or `deadline` has passed. Returns true if
  // the end was requested.
  bool wait_until(TimePoint deadline);
  bool wait() { return wait_until(TimePoint::max()); }

  // Has the same effect as a signal.
  void request_end();

  // Was the end of any such object requested?
  static bool end_requested() { return any_end_; }

  // Ends all waits, now and later.
  void cancel();

 private:
  void watch(const std::stop_token& done);
  void allow_the_next(const std::stop_token& done);

  static std::atomic<bool> any_end_;

  sigset_t ends_;
  Descriptor end_signals_;
  Descriptor wake_;  // stays readable once no thread may wait any more
  std::atomic<bool> end_{false};
  std::jthread thread_;
};

// Waits until then for one of poll's events, if it is not there already. Returns false if none has come. Safe in a signal
// handler, as is the next one.
bool is_ready(int descriptor, short events = POLLIN, TimePoint until = TimePoint::min());

// For poll(): how long it is until then, at most an hour.
int milliseconds_until(TimePoint time);

// Waits until then. Returns false as soon as the thread is to end.
bool sleep_until(TimePoint time, const std::stop_token& end);

// The local port of a socket; 0 if it has none.
int local_port(int socket);

// Shuts down every connection of this process, so that threads blocked on one return. Does not
// touch connections whose local port is one of `spared_ports`.
void shut_down_all_sockets(const std::vector<int>& spared_ports = {});

// Resets every connection with this local port. The other end sees the reset at once. The
// descriptors stay open, but unusable, until they are closed.
void reset_connections(int port);

// For the end of a program: after `begin` and a grace period, shuts down all sockets repeatedly
// until it is destroyed, so that silent peers do not block a thread. Declare it before the objects
// that own such threads.
class SocketCloser {
 public:
  // Throws std::system_error if its thread cannot be started.
  SocketCloser() : thread_([this](const std::stop_token& done) { run(done); }) {}
  ~SocketCloser() { begun_.release(); }

  // Call it once.
  void begin(Duration grace);

 private:
  void run(const std::stop_token& done);

  std::counting_semaphore<2> begun_{0};
  TimePoint from_ = TimePoint::max();
  std::jthread thread_;
};

// The number of times the kernel resends a dropped SYN at a constant interval before it backs off
// (the sysctl tcp_syn_linear_timeouts of Linux 6.5 and later). 0 on kernels without this setting.
std::size_t syn_linear_timeouts();

// Limits a condition variable's wait to a year from now, because a far time point overflows inside
// the wait of some standard libraries. A caller that waits longer must wait again.
inline TimePoint bounded(TimePoint time) {
  return std::min<TimePoint>(time, Clock::now() + std::chrono::hours(24 * 365));
}

}  // namespace retrystorm
