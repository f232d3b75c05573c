#include "common/http/request_server.h"

#include <linux/sock_diag.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "common/http/http_request.h"
#include "model/base/text.h"

namespace retrystorm {

namespace {

// Is this a whole request without a body, after which the client wants to use the connection again?
bool asks_to_keep(const std::string& text) {
  if (!text.starts_with("GET ") && !text.starts_with("HEAD ")) return false;
  if (!text.ends_with("\r\n\r\n") || text.find("\n\r\n") + 3 != text.size()) return false;
  const std::string head = to_lower(text);
  return head.find("\r\nconnection: keep-alive\r\n") != std::string::npos &&
         head.find("\r\ncontent-length:") == std::string::npos &&
         head.find("\r\ntransfer-encoding:") == std::string::npos;
}

bool would_block(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

// A connection as cpp-httplib sees it. The bytes that have already been read come first. The rest
// of the request must arrive within `patience`. The client must also take the answer's head, and
// its body, within `patience` each.
class RequestStream final : public httplib::Stream {
 public:
  RequestStream(int connection, std::string begun, Duration patience)
      : connection_(connection),
        begun_(std::move(begun)),
        patience_(patience),
        until_(Clock::now() + patience) {}

  bool is_readable() const override {
    return taken_ < begun_.size() || is_ready(connection_, POLLIN, until_);
  }

  // A client that has ended the connection gets no answer, and is not counted as answered.
  bool is_writable() const override {
    char byte = 0;
    const ssize_t there = recv(connection_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return there > 0 || (there < 0 && would_block(errno));
  }

  ssize_t read(char* to, std::size_t size) override {
    if (taken_ < begun_.size()) {
      size = begun_.copy(to, size, taken_);
      taken_ += size;
      return static_cast<ssize_t>(size);
    }
    if (!is_ready(connection_, POLLIN, until_)) return -1;
    return recv(connection_, to, size, MSG_DONTWAIT);
  }

  ssize_t write(const char* from, std::size_t size) override {
    if (!is_writable()) return -1;
    const TimePoint until = Clock::now() + patience_;
    for (std::size_t done = 0; done < size;) {
      const ssize_t sent = send(connection_, from + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) {
        done += static_cast<std::size_t>(sent);
      } else if (!would_block(errno) || !is_ready(connection_, POLLOUT, until)) {
        return -1;
      }
    }
    return static_cast<ssize_t>(size);
  }

  // The program does not use addresses.
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return connection_; }

 private:
  const int connection_;
  const std::string begun_;
  std::size_t taken_ = 0;  // bytes taken from `begun_`
  const Duration patience_;
  const TimePoint until_;
};

}  // namespace

RequestHead::State RequestHead::read_from(int connection) {
  // cpp-httplib ends the head at the first empty line.
  constexpr std::string_view kEnd = "\n\r\n";
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t size = recv(connection, part.data(), part.size(), MSG_DONTWAIT);
    if (size < 0) return would_block(errno) ? State::kIncomplete : State::kGone;
    if (size == 0) return State::kGone;
    const std::size_t seen = text_.size() - std::min(text_.size(), kEnd.size() - 1);
    text_.append(part.data(), static_cast<std::size_t>(size));
    const std::size_t end = text_.find(kEnd, seen);
    if (std::min(end, text_.size()) > kLongest) return State::kTooLong;
    if (end != std::string::npos) return State::kComplete;
  }
}

RequestServer::RequestServer() {
  // Without a socket cpp-httplib assumes that the server is stopping, and stops answers that it
  // writes in pieces. The number is never used as a socket.
  svr_sock_ = 0;
  // What it promises to clients that keep their connection. Here nothing ends it.
  set_keep_alive_timeout(3600);
  set_keep_alive_max_count(1'000'000);
}

bool RequestServer::serve(int connection, Duration patience) {
  const TimePoint until = Clock::now() + patience;
  RequestHead head;
  auto state = head.read_from(connection);
  while (state == RequestHead::State::kIncomplete && is_ready(connection, POLLIN, until)) {
    state = head.read_from(connection);
  }
  if (state == RequestHead::State::kTooLong) refuse_head(connection);
  if (state != RequestHead::State::kComplete) return false;
  const bool keeps = asks_to_keep(head.text());
  return answer(connection, std::move(head), patience, keeps);
}

bool RequestServer::answer(int connection, RequestHead head, Duration patience, bool keeps) {
  RequestStream stream(connection, std::move(head.text()), patience);
  bool closed = false;
  bool processed = false;
  const auto process_request_of = [&](auto& self) {
    // Later versions of cpp-httplib expect the addresses of both ends here.
    if constexpr (requires { self.process_request(stream, "", 0, "", 0, true, closed, nullptr); }) {
      processed = self.process_request(stream, "", 0, "", 0, !keeps, closed, nullptr);
    } else {
      processed = self.process_request(stream, !keeps, closed, nullptr);
    }
  };
  process_request_of(*this);
  if (keeps && processed && !closed) return true;
  // Sends the answer even if part of the request has not been read.
  shutdown(connection, SHUT_RDWR);
  return false;
}

void RequestServer::refuse_head(int connection) {
  constexpr std::string_view kAnswer =
      "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n"
      "Content-Length: 0\r\n\r\n";
  send(connection, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  shutdown(connection, SHUT_RDWR);
}

void check_before_reading(httplib::Server& server, std::size_t largest_body, Check check) {
  // The status with which a request is refused; 0 = it is not refused.
  const auto refusal = [largest_body](const httplib::Request& request) {
    const bool reads = request.method == "GET" || request.method == "HEAD";
    if (!reads && (request.method != "POST" || largest_body == 0)) return 405;
    // Later versions of cpp-httplib also read the body of a GET whose headers announce one.
    const bool bare =
        !request.has_header("Content-Length") && !request.has_header("Transfer-Encoding");
    if (reads && bare) return 0;
    // cpp-httplib's limit does not apply to a body without Content-Length.
    const std::string length = request.get_header_value("Content-Length");
    std::size_t bytes = 0;
    const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bytes);
    const bool has_length = error == std::errc() && end == length.data() + length.size() &&
                            request.get_header_value_count("Content-Length") == 1 &&
                            !request.has_header("Transfer-Encoding");
    return has_length && bytes <= (reads ? 0 : largest_body) ? 0 : 413;
  };
  const auto answer = [largest_body](int status, httplib::Response& response) {
    response.status = status;
    response.set_header("Connection", "close");
    if (status == 405)
      response.set_header("Allow", largest_body == 0 ? "GET, HEAD" : "GET, HEAD, POST");
  };
  server.set_pre_routing_handler([refusal, answer, check = std::move(check)](
                                     const httplib::Request& request, httplib::Response& response) {
    using Response = httplib::Server::HandlerResponse;
    if (const int status = refusal(request)) {
      answer(status, response);
      return Response::Handled;
    }
    return check && check(request, response) ? Response::Handled : Response::Unhandled;
  });
  // A client that sends `Expect: 100-continue` is refused before it sends the body.
  server.set_expect_100_continue_handler(
      [refusal, answer](const httplib::Request& request, httplib::Response& response) {
        const int status = refusal(request);
        if (status == 0) return 100;
        answer(status, response);
        return status;
      });
}

namespace {

// Returns an empty descriptor and sets `errno` if it fails.
Descriptor listen_at(const addrinfo& where, int backlog) {
  Descriptor socket(::socket(where.ai_family, where.ai_socktype | SOCK_CLOEXEC, where.ai_protocol));
  if (!socket) return socket;
  const int yes = 1, no = 0;
  setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  // A server on [::] accepts IPv4 too, whatever the system's default is.
  if (where.ai_family == AF_INET6) {
    setsockopt(socket.number(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
  }
  if (bind(socket.number(), where.ai_addr, where.ai_addrlen) == 0 &&
      listen(socket.number(), backlog) == 0) {
    return socket;
  }
  const int error = errno;
  socket = {};
  errno = error;
  return {};
}

}  // namespace

std::string print_address(const Address& address) {
  return host_in_url(address.host) + ':' + std::to_string(address.port);
}

Listener::Listener(const Address& address, std::size_t backlog) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const int unknown = getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
  const std::string cannot = "cannot listen on " + address.host + ", port " + port + ": ";
  if (unknown != 0) throw std::runtime_error(cannot + gai_strerror(unknown));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  int error = 0;
  for (const addrinfo* each = found; each != nullptr && !socket_; each = each->ai_next) {
    socket_ = listen_at(*each, static_cast<int>(backlog));
    if (!socket_) error = errno;
  }
  if (socket_) {
    port_ = static_cast<std::size_t>(local_port(socket_.number()));
  } else if (error == EADDRINUSE) {
    throw AddressInUse("port " + port + " is already in use");
  } else {
    throw std::runtime_error(cannot + std::strerror(error));
  }
}

Descriptor Listener::accept() const {
  return Descriptor::of_connection(accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC));
}

KernelState Listener::kernel_state() const {
  // Of a listening socket, Linux reports the length of its queue in this field (ss's Recv-Q).
  tcp_info info{};
  socklen_t size = sizeof(info);
  getsockopt(socket_.number(), IPPROTO_TCP, TCP_INFO, &info, &size);
  std::array<std::uint32_t, SK_MEMINFO_VARS> memory{};
  size = sizeof(memory);
  getsockopt(socket_.number(), SOL_SOCKET, SO_MEMINFO, memory.data(), &size);
  return {.accept_queue = info.tcpi_unacked, .no_room = memory[SK_MEMINFO_DROPS]};
}

void Listener::shut_down() {
  shut_down_ = true;
  shutdown(socket_.number(), SHUT_RDWR);
}

}  // namespace retrystorm
