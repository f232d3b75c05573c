// A process that outlives this one, and undoes what this one did to other processes.
#pragma once

#include <sys/types.h>

#include <array>
#include <functional>

#include "common/os/process.h"
#include "model/base/duration.h"

namespace retrystorm {

// Makes a pipe that programs started by this process do not inherit. Returns its read end and its
// write end. Throws std::runtime_error with a readable message.
std::array<Descriptor, 2> make_pipe();

// A message to a watchdog.
struct WatchdogMessage {
  char what;
  TimePoint until = TimePoint::max();  // when it acts without a further message
};

// A forked process with one thread. What ends or stops this process does not reach that one: it is
// in another session (Ctrl-C, Ctrl-\, Ctrl-Z, a shell's kill, timeout -s KILL, the end of the
// terminal), and has another name in the kernel and on its command line (pidof, pkill, killall).
class Watchdog {
 public:
  // `watch` runs in the new process, which ends when `watch` returns. It reads messages from the
  // descriptor that it gets. The end of the messages means that this object or its whole process is
  // gone. Apart from that descriptor and the standard ones, only `kept` stays open. `watch` may do
  // only what is safe in a signal handler, because the process may be forked from one with threads.
  // `name` has at most 15 letters. Throws std::runtime_error with a readable message.
  Watchdog(const char* name, int kept, const std::function<void(int messages)>& watch);

  // Waits for the process to end, but only for a short time. If the process has more to do, it goes
  // on alone.
  ~Watchdog();

  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Returns false if the process is gone.
  bool send(const WatchdogMessage& message);

 private:
  pid_t pid_ = -1;
  Descriptor messages_;
};

// Reads the next message in `watch`. Returns false at the end.
bool read_message(int messages, WatchdogMessage& message);

}  // namespace retrystorm
