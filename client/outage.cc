#include "client/outage.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {  // glibc 2.36 forgets to say so
#include <sys/pidfd.h>
}

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <string>
#include <system_error>

namespace retrystorm {
namespace {

constexpr char kFrozen = 'f';
constexpr char kAwake = 'a';

// Runs in the child of a fork: only what is safe there. Ends when the other end of the pipe is
// closed, be it by the end of its process.
[[noreturn]] void watch(int from_parent, int server) {
  // What befalls the client must not befall its watchdog: what is sent to the client's whole
  // process group (Ctrl-C, Ctrl-\, Ctrl-Z, a shell's kill, timeout -s KILL), and the end of its
  // terminal.
  setsid();
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU}) {
    std::signal(number, SIG_IGN);
  }
  char state = kAwake;
  char word = 0;
  while (true) {
    const ssize_t size = read(from_parent, &word, 1);
    if (size == 1) {
      state = word;
    } else if (size == 0 || errno != EINTR) {
      break;
    }
  }
  if (state == kFrozen) pidfd_send_signal(server, SIGCONT, nullptr, 0);
  _exit(0);
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
    start_watchdog();
  } catch (...) {
    close(process_);
    throw;
  }
}

void ServerProcess::start_watchdog() {
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("cannot make a pipe: " + reason());
  }
  watchdog_ = fork();
  if (watchdog_ == 0) {
    close(pipe[1]);
    watch(pipe[0], process_);
  }
  const std::string why = reason();
  close(pipe[0]);
  to_watchdog_ = pipe[1];
  if (watchdog_ < 0) {
    close(to_watchdog_);
    throw std::runtime_error("cannot start the watchdog: " + why);
  }
}

ServerProcess::~ServerProcess() {
  close(to_watchdog_);
  waitpid(watchdog_, nullptr, 0);
  close(process_);
}

void ServerProcess::freeze() {
  // The watchdog knows first, so that there is no moment at which only this process does.
  tell_watchdog(kFrozen);
  try {
    signal(SIGSTOP);
  } catch (...) {
    tell_watchdog(kAwake);
    throw;
  }
}

void ServerProcess::wake() {
  signal(SIGCONT);
  tell_watchdog(kAwake);
}

void ServerProcess::tell_watchdog(char state) {
  [[maybe_unused]] const auto written = write(to_watchdog_, &state, 1);
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
