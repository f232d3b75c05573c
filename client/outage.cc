#include "client/outage.h"

#include <poll.h>
#include <unistd.h>

extern "C" {  // glibc 2.36 forgets to say so
#include <sys/pidfd.h>
}

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <string>
#include <system_error>

namespace retrystorm {
namespace {

constexpr char kFrozen = 'f';
constexpr char kAwake = 'a';

// In the watchdog's process.
void wake_at_the_end(int words, int server) {
  char state = kAwake;
  while (read_word(words, state)) {
  }
  if (state == kFrozen) pidfd_send_signal(server, SIGCONT, nullptr, 0);
}

std::string reason() {
  return std::generic_category().message(errno);
}

}  // namespace

ServerProcess::ServerProcess(pid_t pid) : pid_(pid) {
  const std::string who = "process " + std::to_string(pid);
  if (pid == getpid()) throw std::runtime_error(who + " is this client itself, not the server");
  if (pid == 1) throw std::runtime_error(who + " is the system's, not a server");
  process_ = pidfd_open(pid, 0);
  if (process_ < 0) {
    throw std::runtime_error(errno == ESRCH ? "there is no " + who
                                            : who + " cannot be watched: " + reason());
  }
  try {
    if (has_ended()) throw std::runtime_error(who + " has ended");
    if (pidfd_send_signal(process_, 0, nullptr, 0) != 0) {
      throw std::runtime_error(who + " is not ours to freeze: " + reason());
    }
    watchdog_.emplace([this](int words) { wake_at_the_end(words, process_); });
  } catch (...) {
    close(process_);
    throw;
  }
}

ServerProcess::~ServerProcess() {
  watchdog_.reset();
  close(process_);
}

void ServerProcess::freeze() {
  // The watchdog knows first, so that there is no moment at which only this process does.
  watchdog_->tell(kFrozen);
  try {
    signal(SIGSTOP);
  } catch (...) {
    watchdog_->tell(kAwake);
    throw;
  }
}

void ServerProcess::wake() {
  signal(SIGCONT);
  watchdog_->tell(kAwake);
}

void ServerProcess::signal(int number) {
  const std::string cannot =
      "the server (process " + std::to_string(pid_) + ") cannot be signalled: ";
  // Nobody may have waited for it yet: then it still takes signals, and does nothing with them.
  if (has_ended()) throw std::runtime_error(cannot + "it has ended");
  if (pidfd_send_signal(process_, number, nullptr, 0) != 0) {
    throw std::runtime_error(cannot + reason());
  }
}

bool ServerProcess::has_ended() const {
  pollfd process{process_, POLLIN, 0};
  return poll(&process, 1, 0) > 0;
}

}  // namespace retrystorm
