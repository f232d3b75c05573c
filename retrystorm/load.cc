#include "retrystorm/load.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>

namespace retrystorm {

using namespace std::chrono_literals;

ClosedLoad::ClosedLoad(const LoadRequest& load, std::size_t clients, Duration spread, bool once)
    : load_(load), once_(once) {
  // None may move while threads use them.
  for (std::size_t i = 0; i < clients; ++i) connections_.push_back(std::make_unique<Connection>());
  const TimePoint now = Clock::now();
  for (std::size_t i = 0; i < clients; ++i) {
    const Duration late = scale(spread, static_cast<double>(i) / static_cast<double>(clients));
    ++running_;
    threads_.emplace_back([this, i, begin = now + late](const std::stop_token& done) {
      run(done, *connections_[i], begin);
      --running_;
    });
  }
}

void ClosedLoad::run(const std::stop_token& done, Connection& connection, TimePoint begin) {
  HttpAnswer answer;
  // A single request is sent also where the answers are awaited already.
  const auto goes_on = [&] { return once_ || !done.stop_requested(); };
  while (goes_on() && Clock::now() < begin) {
    std::this_thread::sleep_for(std::min<Duration>(begin - Clock::now(), 50ms));
  }
  while (goes_on()) {
    Answered ended = ask_on(load_, connection, load_.keeps_connections, answer);
    if (!goes_on()) return;  // its end is not measured, and may be an interruption
    const bool failed = !ended.ok();
    {
      const std::scoped_lock lock(mutex_);
      ended_.push_back(std::move(ended));
    }
    if (once_) return;
    if (failed) std::this_thread::sleep_for(kAfterFailure);
  }
}

std::vector<Answered> ClosedLoad::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(ended_, {});
}

void ClosedLoad::stop() {
  for (std::jthread& each : threads_) each.request_stop();
  for (std::jthread& each : threads_) {
    if (each.joinable()) each.join();
  }
}

void ClosedLoad::interrupt() {
  for (std::jthread& each : threads_) each.request_stop();
  // One that was about to send does not see the first interruption.
  while (running_ > 0) {
    for (const auto& each : connections_) each->interrupt();
    std::this_thread::sleep_for(10ms);
  }
}

std::vector<TimePoint> hang_up(const LoadRequest& load, std::size_t requests, Duration held) {
  httplib::Headers headers = says_what_it_is();
  const std::string text = head_of(load.request, headers) + load.request.body;
  std::vector<std::unique_ptr<Connection>> connections;
  const TimePoint deadline = saturating_add(Clock::now(), std::min<Duration>(load.timeout, 1s));
  std::vector<TimePoint> sent;
  for (std::size_t i = 0; i < requests; ++i) {
    auto& connection = *connections.emplace_back(std::make_unique<Connection>());
    if (connection.open(load.request.url, load.request.tls.get(), deadline) &&
        connection.write(text)) {
      sent.push_back(Clock::now());
    } else {
      break;
    }
    // At once they would overflow a small accept queue.
    std::this_thread::sleep_for(held / static_cast<int>(requests));
  }
  std::this_thread::sleep_for(held);
  return sent;
}

std::optional<ListenQueue> listen_queue(const Url& url) {
  const bool six = url.address.find(':') != std::string::npos;
  // Is it an address of this machine? Only there can a socket be bound to it.
  {
    sockaddr_in6 of_six{};
    sockaddr_in of_four{};
    of_six.sin6_family = AF_INET6;
    of_four.sin_family = AF_INET;
    const bool known = six ? inet_pton(AF_INET6, url.address.c_str(), &of_six.sin6_addr) == 1
                           : inet_pton(AF_INET, url.address.c_str(), &of_four.sin_addr) == 1;
    const Descriptor probe(socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto* const address = six ? reinterpret_cast<const sockaddr*>(&of_six)
                                    : reinterpret_cast<const sockaddr*>(&of_four);
    if (!known || !probe ||
        bind(probe.number(), address, six ? sizeof of_six : sizeof of_four) != 0) {
      return std::nullopt;
    }
  }
  ListenQueue found;
  bool any = false;
  // A socket for IPv6 may take connections of IPv4, too.
  for (const int family : {AF_INET, AF_INET6}) {
    const Descriptor diagnosis(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    if (!diagnosis) return std::nullopt;
    const timeval patience{.tv_sec = 1, .tv_usec = 0};
    setsockopt(diagnosis.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    struct {
      nlmsghdr head;
      inet_diag_req_v2 question;
    } message{};
    message.head.nlmsg_len = sizeof message;
    message.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    message.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    message.question.sdiag_family = static_cast<std::uint8_t>(family);
    message.question.sdiag_protocol = IPPROTO_TCP;
    message.question.idiag_states = 1U << TCP_LISTEN;
    if (::send(diagnosis.number(), &message, sizeof message, 0) < 0) return std::nullopt;
    alignas(nlmsghdr) std::array<char, 32 * 1024> buffer;
    for (bool more = true; more;) {
      const ssize_t size = recv(diagnosis.number(), buffer.data(), buffer.size(), 0);
      if (size <= 0) return std::nullopt;
      auto left = static_cast<unsigned>(size);
      for (auto* head = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(head, left);
           head = NLMSG_NEXT(head, left)) {
        more = head->nlmsg_type != NLMSG_DONE && head->nlmsg_type != NLMSG_ERROR;
        if (!more) break;
        const auto* const one = static_cast<const inet_diag_msg*>(NLMSG_DATA(head));
        if (ntohs(one->id.idiag_sport) != url.port) continue;
        found.waiting += one->idiag_rqueue;
        found.most += one->idiag_wqueue;
        any = true;
      }
    }
  }
  return any ? std::optional(found) : std::nullopt;
}

}  // namespace retrystorm
