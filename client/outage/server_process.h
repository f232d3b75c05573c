// Freezes the server's process, and makes sure that it wakes again.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "client/outage/watchdog.h"
#include "common/os/process.h"
#include "model/base/duration.h"

namespace retrystorm {

// This process, and those that it has started and that still run, each before those that it has started.
std::vector<pid_t> process_tree(pid_t pid);

// The process that has started this one, if both run the same program; otherwise 0.
pid_t parent_of_same(pid_t pid);

// A process that this one may freeze (SIGSTOP) and wake (SIGCONT). If the process ends and another
// one gets its number, that one is never signalled. A small watchdog process knows when the freeze
// ends. It wakes the server at that time, even if this program is stopped or busy. It also wakes
// the server when this object or the whole program is gone, even if its process group was killed.
// Not thread-safe.
class ServerProcess {
 public:
  // Throws std::runtime_error with a readable message if there is no process `pid`, if it is this
  // one, or if we may not signal it.
  explicit ServerProcess(pid_t pid);

  // Freezes the process until `wake` or `until`, whichever is first. If it is frozen already,
  // `until` replaces the earlier time. Both throw std::runtime_error if the process has ended.
  void freeze(TimePoint until);
  void wake();

 private:
  void start_watchdog();
  void signal(int number);
  void send(int number, const std::string& cannot) const;
  bool has_ended() const { return is_ready(process_.number()); }

  const pid_t pid_;
  const Descriptor process_;  // a pidfd
  std::optional<Watchdog> watchdog_;
};

}  // namespace retrystorm
