#include "common/os/process.h"

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
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

std::size_t longest_backlog() {
  std::size_t longest = std::numeric_limits<std::size_t>::max();  // not told: no limit is known
  std::ifstream("/proc/sys/net/core/somaxconn") >> longest;
  return longest;
}

EndSignals::EndSignals() {
  std::signal(SIGPIPE, SIG_IGN);
  sigemptyset(&set_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, signal);
  pthread_sigmask(SIG_BLOCK, &set_, nullptr);
}

bool EndSignals::wait_until(TimePoint deadline) const {
  while (true) {
    const Duration left = std::max(deadline - Clock::now(), Duration::zero());
    // In steps, for a far deadline does not fit in a timespec everywhere.
    const auto step = std::min<Duration>(left, std::chrono::hours(1));
    const auto seconds = std::chrono::floor<std::chrono::seconds>(step);
    const timespec wait{.tv_sec = seconds.count(), .tv_nsec = (step - seconds).count()};
    if (sigtimedwait(&set_, nullptr, &wait) > 0) return true;
    if (Clock::now() >= deadline) return false;
  }
}

namespace {

// 0 when it has none.
int local_port(int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                   : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace

void shut_down_all_sockets(const std::vector<int>& spared_ports) {
  // Not all up to the limit, which may be a billion.
  std::vector<int> descriptors;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    descriptors.push_back(std::atoi(entry.path().filename().c_str()));
  }
  for (const int descriptor : descriptors) {
    if (descriptor <= STDERR_FILENO) continue;
    int domain = 0;
    socklen_t size = sizeof(domain);
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
        (domain == AF_INET || domain == AF_INET6) &&
        std::find(spared_ports.begin(), spared_ports.end(), local_port(descriptor)) ==
            spared_ports.end()) {
      shutdown(descriptor, SHUT_RDWR);
    }
  }
}

void SocketCloser::begin(Duration grace) {
  thread_ = std::jthread([grace](const std::stop_token& done) {
    constexpr auto kPause = std::chrono::milliseconds(5);
    const TimePoint from = Clock::now() + grace;
    for (; !done.stop_requested(); std::this_thread::sleep_for(kPause)) {
      if (Clock::now() >= from) shut_down_all_sockets();
    }
  });
}

}  // namespace retrystorm
