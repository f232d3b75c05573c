#include "common/os/process.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace retrystorm {

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < limit.rlim_max) {
    const rlimit raised{limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return limit.rlim_cur;
}

double memory_limit() {
  const double machine =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  return limit.rlim_cur == RLIM_INFINITY ? machine
                                         : std::min(machine, static_cast<double>(limit.rlim_cur));
}

std::size_t longest_backlog() {
  std::size_t longest = std::numeric_limits<std::size_t>::max();  // unreadable: no known limit
  std::ifstream("/proc/sys/net/core/somaxconn") >> longest;
  return longest;
}

void occupy_standard_descriptors() {
  // open() returns the lowest free number.
  int descriptor = 0;
  do descriptor = open("/dev/null", O_RDONLY);
  while (descriptor >= 0 && descriptor <= STDERR_FILENO);
  if (descriptor >= 0) close(descriptor);
}

EndSignals::EndSignals(Suspension suspension) {
  std::signal(SIGPIPE, SIG_IGN);
  sigemptyset(&set_);
  const auto add = [this](int number) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) return;
    sigaddset(&set_, number);
  };
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) add(number);
  if (suspension == Suspension::kTold) {
    for (const int number : {SIGTSTP, SIGCONT}) add(number);
  }
  signals_ = signalfd(-1, &set_, SFD_NONBLOCK | SFD_CLOEXEC);
  wake_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (signals_ < 0 || wake_ < 0) {
    const std::string why = std::generic_category().message(errno);
    close(signals_);
    throw std::runtime_error("cannot watch for signals: " + why);
  }
  pthread_sigmask(SIG_BLOCK, &set_, nullptr);
}

EndSignals::~EndSignals() {
  next_one_ = {};
  close(signals_);
  close(wake_);
}

bool EndSignals::wait_until(TimePoint deadline) {
  while (!end_) {
    const Duration left = std::max(deadline - Clock::now(), Duration::zero());
    // Waits in steps: on some systems a far deadline does not fit in a timespec.
    const auto step = std::min<Duration>(left, std::chrono::hours(1));
    const auto seconds = std::chrono::floor<std::chrono::seconds>(step);
    const timespec wait{.tv_sec = seconds.count(), .tv_nsec = (step - seconds).count()};
    std::array<pollfd, 2> both{{{signals_, POLLIN, 0}, {wake_, POLLIN, 0}}};
    ppoll(both.data(), both.size(), &wait, nullptr);
    if (both[1].revents != 0) break;
    if (both[0].revents != 0) {
      take_signal();
    } else if (Clock::now() >= deadline) {
      break;
    }
  }
  return end_;
}

void EndSignals::take_signal() {
  signalfd_siginfo info{};
  if (read(signals_, &info, sizeof(info)) != sizeof(info)) return;  // another thread took it
  if (info.ssi_signo == SIGTSTP) return suspend();
  if (info.ssi_signo == SIGCONT) {
    if (suspendable_ != nullptr) suspendable_->resume();
    return;
  }
  std::call_once(first_, [this] {
    try {
      next_one_ = std::jthread([this](const std::stop_token& done) { allow_the_next(done); });
    } catch (const std::exception&) {
      // No thread or no memory: the second signal then has no effect, and only SIGKILL ends the
      // program faster than the orderly end.
    }
  });
  request_end();
}

void EndSignals::suspend() {
  if (suspendable_ != nullptr) suspendable_->suspend();
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  raise(SIGTSTP);  // stopped here, unless no shell could continue the program
  pthread_sigmask(SIG_BLOCK, &one, nullptr);
  if (suspendable_ != nullptr) suspendable_->resume();
}

// A thread that takes the next signal with its default action. A signal that arrives together with
// the first one counts as the same request: timeout(1), for example, signals the process and then
// its group.
void EndSignals::allow_the_next(const std::stop_token& done) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  const auto no = [] { return false; };
  never.wait_for(lock, done, std::chrono::milliseconds(100), no);
  const timespec at_once{};
  while (sigtimedwait(&set_, nullptr, &at_once) > 0) {
  }
  pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
  never.wait(lock, done, no);
}

void EndSignals::request_end() {
  end_ = true;
  cancel();
}

void EndSignals::cancel() {
  constexpr std::uint64_t kOne = 1;
  [[maybe_unused]] const auto written = write(wake_, &kOne, sizeof(kOne));
}

namespace {

// The local port of a socket; 0 if it has none.
int local_port(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

// Calls `use` with each connection of this process, and its local port.
template <typename Use>
void each_connection(Use use) {
  // Only the open descriptors, not all up to the limit, which may be a billion.
  std::vector<int> descriptors;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    descriptors.push_back(std::atoi(entry.path().filename().c_str()));
  }
  for (const int descriptor : descriptors) {
    if (descriptor <= STDERR_FILENO) continue;
    int domain = 0, listening = 0;
    socklen_t size = sizeof(int);
    // Skips listening sockets: their servers close them.
    if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 &&
        listening != 0) {
      continue;
    }
    size = sizeof(int);
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
        (domain == AF_INET || domain == AF_INET6)) {
      use(descriptor, local_port(descriptor));
    }
  }
}

}  // namespace

void shut_down_all_sockets(const std::vector<int>& spared_ports) {
  each_connection([&spared_ports](int descriptor, int port) {
    if (std::find(spared_ports.begin(), spared_ports.end(), port) == spared_ports.end()) {
      shutdown(descriptor, SHUT_RDWR);
    }
  });
}

void reset_connections(int port) {
  each_connection([port](int descriptor, int its_port) {
    if (its_port != port) return;
    // Connecting to AF_UNSPEC dissolves the connection and sends a reset.
    const sockaddr none{.sa_family = AF_UNSPEC, .sa_data = {}};
    if (connect(descriptor, &none, sizeof(none)) != 0) shutdown(descriptor, SHUT_RDWR);
  });
}

SocketCloser::SocketCloser() : thread_([this](const std::stop_token& done) { run(done); }) {}

void SocketCloser::begin(Duration grace) {
  {
    const std::scoped_lock lock(mutex_);
    from_ = Clock::now() + grace;
  }
  begun_.notify_all();
}

void SocketCloser::run(const std::stop_token& done) {
  {
    std::unique_lock lock(mutex_);
    if (!begun_.wait(lock, done, [this] { return from_ != TimePoint::max(); })) return;
  }
  constexpr auto kPause = std::chrono::milliseconds(5);
  for (; !done.stop_requested(); std::this_thread::sleep_for(kPause)) {
    if (Clock::now() < from_) continue;
    try {
      shut_down_all_sockets();
    } catch (const std::bad_alloc&) {
      // The service's threads have all memory. Some is free again once they have ended.
    }
  }
}

}  // namespace retrystorm
