#include "client/outage/watchdog.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace retrystorm {
namespace {

// How long this process waits for the watchdog to end.
constexpr Duration kEndPatience = std::chrono::seconds(2);

// Overwrites the name in the kernel and the whole command line, because `kill -9 $(pidof client)`
// and `pkill -9 -f client` find a process by any of them.
void take_name(const char* name) {
  prctl(PR_SET_NAME, name);
  std::size_t size = 0;
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = read(file, part.data(), part.size())) > 0;) {
    size += static_cast<std::size_t>(got);
  }
  close(file);
  if (size == 0) return;
  // The words of the command line lie one after the other in memory, from argv[0] on.
  std::memset(program_invocation_name, 0, size);
  std::memcpy(program_invocation_name, name, std::min(std::strlen(name), size - 1));
}

// Closes what the new process would keep open: connections, files, other watchdogs' pipes.
void close_all_but(int one, int other) {
  const auto [low, high] = std::minmax(one, other);
  unsigned first = STDERR_FILENO + 1;
  for (const int kept : {low, high}) {
    const auto end = static_cast<unsigned>(kept);
    if (end > first) close_range(first, end - 1, 0);
    first = std::max(first, end + 1);
  }
  close_range(first, ~0U, 0);
}

}  // namespace

std::array<Descriptor, 2> make_pipe() {
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  }
  return {Descriptor(pipe[0]), Descriptor(pipe[1])};
}

Watchdog::Watchdog(const char* name, int kept, const std::function<void(int messages)>& watch) {
  std::array<Descriptor, 2> pipe = make_pipe();
  pid_ = fork();
  if (pid_ == 0) {
    setsid();
    for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU}) {
      std::signal(number, SIG_IGN);
    }
    take_name(name);
    // Here nothing may be destroyed: closing a `Descriptor` takes a lock.
    close_all_but(pipe[0].number(), kept);
    watch(pipe[0].number());
    _exit(0);
  }
  if (pid_ < 0) {
    throw std::runtime_error(std::string("cannot start the watchdog: ") + std::strerror(errno));
  }
  messages_ = std::move(pipe[1]);
}

Watchdog::~Watchdog() {
  const Descriptor process(pidfd_open(pid_, 0));
  messages_ = {};
  if (!process || is_ready(process.number(), POLLIN, Clock::now() + kEndPatience)) {
    waitpid(pid_, nullptr, 0);
  }
}

bool Watchdog::send(const WatchdogMessage& message) {
  // SIGPIPE is ignored.
  return write(messages_.number(), &message, sizeof(message)) == sizeof(message);
}

bool read_message(int messages, WatchdogMessage& message) {
  while (true) {
    const ssize_t size = read(messages, &message, sizeof(message));
    if (size == sizeof(message)) return true;
    if (size >= 0 || errno != EINTR) return false;
  }
}

}  // namespace retrystorm
