// The scripted outage: freezes the server's process and wakes it again, whatever happens.
#pragma once

#include <sys/types.h>

#include <optional>

#include "client/watchdog.h"

namespace retrystorm {

// A process that this one may freeze (SIGSTOP) and wake (SIGCONT); no other one that gets its
// number once it has ended. A small watchdog process sees to it that the server is awake once this
// object or the whole program is gone, even if the program was killed, and all its process group.
class ServerProcess {
 public:
  // Throws std::runtime_error with a sentence for a person when `pid` is no process, this one, or
  // not ours to signal. Construct it before any thread is started, for it forks.
  explicit ServerProcess(pid_t pid);
  ~ServerProcess();

  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Throw std::runtime_error when the process has ended.
  void freeze();
  void wake();

 private:
  void signal(int number);
  bool has_ended() const;

  const pid_t pid_;
  int process_ = -1;  // a pidfd
  std::optional<Watchdog> watchdog_;
};

}  // namespace retrystorm
