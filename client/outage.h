// The scripted outage: freezes the server's process and wakes it again, whatever happens.
#pragma once

#include <sys/types.h>

#include <optional>

#include "model/base/duration.h"

namespace retrystorm {

// A process that this one may freeze (SIGSTOP) and wake (SIGCONT). A small watchdog process sees
// to it that the server is awake once this object or the whole program is gone, even if the
// program was killed.
class ServerProcess {
 public:
  // Throws std::runtime_error with a sentence for a person when `pid` is no process, this one, or
  // not ours to signal. Construct it before any thread is started, for it forks.
  explicit ServerProcess(pid_t pid);
  ~ServerProcess();

  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Throw std::runtime_error when the process is gone.
  void freeze();
  void wake();

 private:
  void signal(int number);

  const pid_t pid_;
  pid_t watchdog_ = -1;
  int to_watchdog_ = -1;
};

}  // namespace retrystorm
