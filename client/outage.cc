#include "client/outage.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>

namespace retrystorm {
namespace {

constexpr char kFrozen = 'f';
constexpr char kAwake = 'a';

// Runs in the child of a fork: only what is safe there. Ends when the other end of the pipe is
// closed, be it by the end of its process.
[[noreturn]] void watch(int from_parent, pid_t server) {
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
  if (state == kFrozen) kill(server, SIGCONT);
  _exit(0);
}

}  // namespace

ServerProcess::ServerProcess(pid_t pid) : pid_(pid) {
  const std::string who = "process " + std::to_string(pid);
  if (pid == getpid()) throw std::runtime_error(who + " is this client itself, not the server");
  if (pid == 1) throw std::runtime_error(who + " is the system's, not a server");
  if (kill(pid, 0) != 0) {
    throw std::runtime_error(errno == ESRCH
                                 ? "there is no " + who
                                 : who + " is not ours to freeze: " + std::strerror(errno));
  }
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  watchdog_ = fork();
  if (watchdog_ == 0) {
    close(pipe[1]);
    watch(pipe[0], pid_);
  }
  close(pipe[0]);
  to_watchdog_ = pipe[1];
  if (watchdog_ < 0) {
    close(to_watchdog_);
    throw std::runtime_error(std::string("cannot start the watchdog: ") + std::strerror(errno));
  }
}

ServerProcess::~ServerProcess() {
  close(to_watchdog_);
  waitpid(watchdog_, nullptr, 0);
}

void ServerProcess::freeze() {
  // The watchdog knows first, so that there is no moment at which only this process does.
  [[maybe_unused]] const auto written = write(to_watchdog_, &kFrozen, 1);
  signal(SIGSTOP);
}

void ServerProcess::wake() {
  signal(SIGCONT);
  [[maybe_unused]] const auto written = write(to_watchdog_, &kAwake, 1);
}

void ServerProcess::signal(int number) {
  if (kill(pid_, number) != 0) {
    throw std::runtime_error("the server (process " + std::to_string(pid_) +
                             ") cannot be signalled: " + std::strerror(errno));
  }
}

}  // namespace retrystorm
