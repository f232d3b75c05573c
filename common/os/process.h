// What the real programs ask of the operating system: descriptors, signals, sockets at the end.
#pragma once

#include <atomic>
#include <csignal>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

#include "model/base/duration.h"

namespace retrystorm {

// Raises the soft limit on open files to the hard one. Returns how many this process may open.
std::size_t raise_descriptor_limit();

// How much memory this machine has, in bytes.
double physical_memory();

// The longest accept queue that the kernel gives a listening socket; it shortens longer ones
// without a word.
std::size_t longest_backlog();

// Sees to it that descriptors 0 to 2 are taken, also in a program that was started without them:
// what is opened later must not get what is printed. To those that were missing nothing can be
// written.
void occupy_standard_descriptors();

// What must know that the program is about to be stopped by its terminal (Ctrl-Z), and that it goes
// on.
class Suspendable {
 public:
  virtual void suspend() = 0;
  virtual void resume() = 0;

 protected:
  ~Suspendable() = default;
};

// The signals that end a program, taken in at one place instead of in handlers. What is ignored
// when the program starts stays so: that is how nohup works. The first signal asks for the end; the
// next one, unless it comes with the first, has its default action and ends the program at once.
// Construct it before the first thread starts, for threads inherit the blocked signals. Also
// ignores SIGPIPE. Safe from any thread but for `on_suspend`.
class EndSignals {
 public:
  enum class Suspension {
    kDefault,  // Ctrl-Z stops the program there and then
    kTold      // it is told to who is given to `on_suspend`, by a thread that waits here
  };

  // Throws std::runtime_error when there are no descriptors left.
  explicit EndSignals(Suspension suspension = Suspension::kDefault);
  ~EndSignals();

  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // With `Suspension::kTold`, before anybody waits. It outlives the last wait.
  void on_suspend(Suspendable& who) { suspendable_ = &who; }

  // Waits until the end is asked for, `cancel` or `deadline`. Returns whether the end is asked for.
  bool wait_until(TimePoint deadline);
  bool wait() { return wait_until(TimePoint::max()); }

  // As if a signal had come.
  void request_end();

  // From now on nobody waits.
  void cancel();

 private:
  void take_signal();
  void suspend();
  void allow_the_next(const std::stop_token& done);

  sigset_t set_;
  int signals_ = -1;
  int wake_ = -1;  // readable for ever once nobody is to wait any more
  std::atomic<bool> end_{false};
  Suspendable* suspendable_ = nullptr;
  std::once_flag first_;
  std::jthread next_one_;
};

// Shuts down every connection of this process, so that every thread that is blocked on one returns.
// Spared are listening sockets, which their servers close, the standard streams and the connections
// whose end here is on one of `spared_ports`.
void shut_down_all_sockets(const std::vector<int>& spared_ports = {});

// Resets every connection whose end here is on this port: the other end is told so at once. They
// stay open, good for nothing, until they are closed.
void reset_connections(int port);

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
