// load_generator: requests at an even rate, each on a separate connection, all from one thread.
// Measures the server without the cost of a thread for each client.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "common/cli/options.h"
#include "common/os/process.h"
#include "model/base/duration.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

struct Options {
  std::size_t port = 8070;
  std::size_t requests = 1000;
  double rate = 100;                                 // requests a second
  Duration answer_within = std::chrono::minutes(1);  // of the last request's start
};

void require(bool good, const char* what) {
  if (!good) throw std::system_error(errno, std::generic_category(), what);
}

// Sends every request and waits for every answer.
class LoadGenerator {
 public:
  explicit LoadGenerator(const Options& options) : options_(options), epoll_(epoll_create1(0)) {
    require(epoll_ >= 0, "epoll");
  }
  ~LoadGenerator() { close(epoll_); }

  LoadGenerator(const LoadGenerator&) = delete;
  LoadGenerator& operator=(const LoadGenerator&) = delete;

  void run() {
    const TimePoint start = Clock::now();
    const Duration gap = from_seconds(1 / options_.rate);
    TimePoint last_start = start;
    while (done_ < options_.requests) {
      for (; started_ < options_.requests; ++started_) {
        if (start + static_cast<long>(started_) * gap > Clock::now()) break;
        begin_request();
        last_start = Clock::now();
      }
      if (Clock::now() - last_start > options_.answer_within) break;
      handle_events();
    }
  }

  nlohmann::ordered_json report() {
    std::sort(latencies_.begin(), latencies_.end());
    const auto quantile_ms = [this](double q) {
      if (latencies_.empty()) return nlohmann::ordered_json(nullptr);
      const auto at = static_cast<std::size_t>(q * static_cast<double>(latencies_.size() - 1));
      return nlohmann::ordered_json(to_seconds(latencies_[at]) * 1e3);
    };
    return {{"ok", latencies_.size()},
            {"failed", started_ - latencies_.size()},
            {"p50_ms", quantile_ms(0.5)},
            {"p99_ms", quantile_ms(0.99)},
            {"max_ms", quantile_ms(1)}};
  }

 private:
  struct Request {
    TimePoint begin;
    bool sent = false;
    bool ok = false;
  };

  void begin_request() {
    const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    require(descriptor >= 0, "socket");
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(options_.port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (static_cast<std::size_t>(descriptor) >= requests_.size()) requests_.resize(descriptor + 1);
    requests_[descriptor] = {.begin = Clock::now()};
    const int connected =
        connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    require(connected == 0 || errno == EINPROGRESS, "connect");
    watch(descriptor, EPOLLOUT, EPOLL_CTL_ADD);
  }

  void handle_events() {
    std::array<epoll_event, 512> events;
    const int count = epoll_wait(epoll_, events.data(), events.size(), 1);
    require(count >= 0 || errno == EINTR, "epoll_wait");
    for (int i = 0; i < count; ++i) handle(events[i].data.fd);
  }

  void handle(int descriptor) {
    Request& request = requests_[descriptor];
    if (!request.sent) {
      static constexpr std::string_view kText =
          "GET /api HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
      if (send(descriptor, kText.data(), kText.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(kText.size())) {
        return end_request(descriptor);
      }
      request.sent = true;
      return watch(descriptor, EPOLLIN, EPOLL_CTL_MOD);
    }
    std::array<char, 4096> text;
    const ssize_t size = recv(descriptor, text.data(), text.size(), 0);
    if (size <= 0) return end_request(descriptor);
    const std::string_view answer(text.data(), static_cast<std::size_t>(size));
    if (!request.ok && answer.starts_with("HTTP/1.1 200")) {
      request.ok = true;
      latencies_.push_back(Clock::now() - request.begin);
    }
  }

  void end_request(int descriptor) {
    close(descriptor);
    ++done_;
  }

  void watch(int descriptor, std::uint32_t what, int operation) {
    epoll_event event{.events = what, .data = {.fd = descriptor}};
    require(epoll_ctl(epoll_, operation, descriptor, &event) == 0, "epoll_ctl");
  }

  const Options options_;
  const int epoll_;
  std::vector<Request> requests_;  // by descriptor
  std::size_t started_ = 0, done_ = 0;
  std::vector<Duration> latencies_;  // from the connect to the answer
};

}  // namespace
}  // namespace retrystorm

int main(int argc, char** argv) {
  using namespace retrystorm;
  CLI::App app("Sends requests at an even rate from one thread, and prints how they fared.");
  Options options;
  add_count(app, "--port", options.port, "port on 127.0.0.1", 1, 65535);
  add_count(app, "--requests", options.requests, "how many", 1, 1'000'000);
  add_number(app, "--rate", options.rate, "how many a second", 1e-3, 1e6);
  add_duration(app, "--answer-within", options.answer_within, "wait no longer for the last answer");
  if (const auto code = parse(app, argc, argv)) return *code;
  try {
    raise_descriptor_limit();
    LoadGenerator generator(options);
    generator.run();
    const auto report = generator.report();
    std::cout << report << '\n';
    return report["failed"] == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
