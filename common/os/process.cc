#include "common/os/process.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <bitset>
#include <cerrno>
#include <condition_variable>
#include <exception>
#include <fstream>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <system_error>

namespace retrystorm {

namespace {

// A list of our own: /proc/self/fd is not everywhere, and reading it needs a descriptor. The system gives the lowest
// free number, so that none is beyond the end.
std::mutex connections_mutex;
std::bitset<1 << 20> connections;

void note(int number, bool is_connection) {
  const auto place = static_cast<std::size_t>(number);
  if (number < 0 || place >= connections.size()) return;
  const std::scoped_lock lock(connections_mutex);
  connections[place] = is_connection;
}

}  // namespace

Descriptor Descriptor::of_connection(int number) {
  note(number, true);
  return Descriptor(number);
}

Descriptor::~Descriptor() {
  if (number_ < 0) return;
  note(number_, false);
  close(number_);
}

void each_connection(const std::function<bool(int number)>& use) {
  // The lock is taken for each: with thousands of them, others would wait for long.
  for (std::size_t i = 0; i < connections.size(); ++i) {
    const std::scoped_lock lock(connections_mutex);
    if (!connections[i]) i = connections._Find_next(i);
    if (i < connections.size() && use(static_cast<int>(i))) connections[i] = false;
  }
}

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < limit.rlim_max) {
    const rlimit raised{limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return limit.rlim_cur;
}

std::string too_many(const std::string& option, std::size_t wanted, std::size_t descriptors,
                     std::size_t left) {
  return option + ' ' + std::to_string(wanted) + " is too many: a process may open " +
         std::to_string(descriptors) + " files here (ulimit -n), which leaves " +
         std::to_string(left);
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

std::atomic<bool> EndSignals::any_end_{false};

EndSignals::EndSignals() {
  std::signal(SIGPIPE, SIG_IGN);
  sigemptyset(&ends_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
    sigaddset(&ends_, number);
  }
  end_signals_ = Descriptor(signalfd(-1, &ends_, SFD_NONBLOCK | SFD_CLOEXEC));
  wake_ = Descriptor(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  const std::string cannot = "cannot watch for signals: ";
  if (!end_signals_ || !wake_) {
    throw std::runtime_error(cannot + std::generic_category().message(errno));
  }
  pthread_sigmask(SIG_BLOCK, &ends_, nullptr);
  try {
    thread_ = std::jthread([this](const std::stop_token& done) { watch(done); });
  } catch (const std::system_error& error) {
    throw std::runtime_error(cannot + error.what());
  }
}

EndSignals::~EndSignals() {
  cancel();
  // What is told of an error may wait for a reader.
  if (std::uncaught_exceptions() > 0) pthread_sigmask(SIG_UNBLOCK, &ends_, nullptr);
}

bool EndSignals::wait_until(TimePoint deadline) {
  is_ready(wake_.number(), POLLIN, deadline);
  return end_;
}

void EndSignals::watch(const std::stop_token& done) {
  std::array<pollfd, 2> both{{{end_signals_.number(), POLLIN, 0}, {wake_.number(), POLLIN, 0}}};
  while (both[0].revents == 0 && both[1].revents == 0) poll(both.data(), both.size(), -1);
  if (both[0].revents != 0) request_end();
  allow_the_next(done);
}

// Gives the next signal its default action. One that arrives together with the first counts as the same request:
// timeout(1), for example, signals the process and then its group.
void EndSignals::allow_the_next(const std::stop_token& done) {
  sleep_until(Clock::now() + std::chrono::milliseconds(100), done);
  const timespec at_once{};
  while (sigtimedwait(&ends_, nullptr, &at_once) > 0) {
  }
  if (done.stop_requested()) return;
  pthread_sigmask(SIG_UNBLOCK, &ends_, nullptr);
  sleep_until(TimePoint::max(), done);
}

void EndSignals::request_end() {
  end_ = any_end_ = true;
  cancel();
}

void EndSignals::cancel() {
  eventfd_write(wake_.number(), 1);
}

namespace {

// At most an hour: on some systems a far deadline does not fit in a timespec.
Duration left_until(TimePoint time) {
  const TimePoint now = Clock::now();
  return time <= now ? Duration::zero() : std::min<Duration>(time - now, std::chrono::hours(1));
}

}  // namespace

bool is_ready(int descriptor, short events, TimePoint until) {
  pollfd waits{descriptor, events, 0};
  do {
    const Duration left = left_until(until);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    const timespec time{.tv_sec = static_cast<std::time_t>(seconds.count()),
                        .tv_nsec = static_cast<long>((left - seconds).count())};
    if (ppoll(&waits, 1, &time, nullptr) > 0) return true;
  } while (Clock::now() < until);
  return false;
}

int milliseconds_until(TimePoint time) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(left_until(time));
  return static_cast<int>(left.count());
}

bool sleep_until(TimePoint time, const std::stop_token& end) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  while (!end.stop_requested() && Clock::now() < time) {
    never.wait_until(lock, end, bounded(time), [] { return false; });
  }
  return !end.stop_requested();
}

int local_port(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

void shut_down_all_sockets(const std::vector<int>& spared_ports) {
  each_connection([&spared_ports](int connection) {
    const bool spared =
        !spared_ports.empty() && std::ranges::count(spared_ports, local_port(connection)) > 0;
    // One that does not connect yet stays as it is.
    return !spared && shutdown(connection, SHUT_RDWR) == 0;
  });
}

void reset_connections(int port) {
  each_connection([port](int connection) {
    if (local_port(connection) != port) return false;
    // Connecting to AF_UNSPEC dissolves the connection and sends a reset.
    const sockaddr none{.sa_family = AF_UNSPEC, .sa_data = {}};
    if (connect(connection, &none, sizeof(none)) != 0) shutdown(connection, SHUT_RDWR);
    return true;
  });
}

void SocketCloser::begin(Duration grace) {
  from_ = Clock::now() + grace;
  begun_.release();
}

void SocketCloser::run(const std::stop_token& done) {
  begun_.acquire();
  for (; !done.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
    if (Clock::now() >= from_) shut_down_all_sockets();
  }
}

std::size_t syn_linear_timeouts() {
  std::size_t count = 0;
  std::ifstream file("/proc/sys/net/ipv4/tcp_syn_linear_timeouts");
  return file >> count ? count : 0;
}

}  // namespace retrystorm
