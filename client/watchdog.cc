#include "client/watchdog.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
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

// So long this process waits for one that undoes what it did.
constexpr int kPatienceMs = 10'000;

}  // namespace

std::array<int, 2> make_pipe() {
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("cannot make a pipe: " + std::generic_category().message(errno));
  }
  return pipe;
}

Watchdog::Watchdog(const std::function<void(int words)>& watch) {
  const std::array<int, 2> pipe = make_pipe();
  pid_ = fork();
  if (pid_ == 0) {
    close(pipe[1]);
    setsid();
    for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU}) {
      std::signal(number, SIG_IGN);
    }
    watch(pipe[0]);
    _exit(0);
  }
  const int error = errno;
  close(pipe[0]);
  words_ = pipe[1];
  if (pid_ < 0) {
    close(words_);
    throw std::runtime_error("cannot start the watchdog: " +
                             std::generic_category().message(error));
  }
}

Watchdog::~Watchdog() {
  const int process = pidfd_open(pid_, 0);
  close(words_);
  pollfd ended{process, POLLIN, 0};
  if (process < 0 || poll(&ended, 1, kPatienceMs) > 0) waitpid(pid_, nullptr, 0);
  if (process >= 0) close(process);
}

bool Watchdog::tell(char word) {
  return write(words_, &word, 1) == 1;  // SIGPIPE is ignored
}

bool read_word(int words, char& word) {
  while (true) {
    const ssize_t size = read(words, &word, 1);
    if (size == 1) return true;
    if (size == 0 || errno != EINTR) return false;
  }
}

}  // namespace retrystorm
