#include "common/http/connection.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>

namespace retrystorm {
namespace {

// Errors that mean a shortage on this machine, not a fault of the server.
bool is_shortage(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM ||
         error == EADDRNOTAVAIL;
}

NoAnswer kind_of(int error) {
  switch (error) {
    case ECONNREFUSED:
      return NoAnswer::kRefused;
    case ECONNRESET:
    case ECONNABORTED:
    case EPIPE:
      return NoAnswer::kReset;
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENETDOWN:
    case ENETUNREACH:
    case ETIMEDOUT:
      return NoAnswer::kUnreachable;
    default:
      return NoAnswer::kOther;
  }
}

timespec timespec_of(Duration time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return {.tv_sec = static_cast<std::time_t>(seconds.count()),
          .tv_nsec = static_cast<long>((time - seconds).count())};
}

}  // namespace

void Connection::renew(TimePoint deadline) {
  deadline_ = deadline;
  fault_ = Fault::kNone;
  why_.clear();
  is_closed_ = false;
  begin_ = end_ = line_ = lines_ = 0;
}

bool Connection::can_be_used_again() const {
  if (descriptor_ < 0 || is_closed_ || begin_ != end_) return false;
  pollfd state{descriptor_, POLLIN | POLLRDHUP, 0};
  return poll(&state, 1, 0) == 0;
}

bool Connection::open(const Url& url, SSL_CTX* tls, TimePoint deadline, Protocol protocol) {
  renew(deadline);
  if (!connect(url)) return false;
  if (protocol == Protocol::kHttp2) {
    // A small frame would wait for the answer to the one before it.
    constexpr int kOn = 1;
    setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &kOn, sizeof(kOn));
  }
  return tls == nullptr || shake_hands(tls, url.host, protocol);
}

bool Connection::connect(const Url& url) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;  // no name server is asked
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(url.address.c_str(), std::to_string(url.port).c_str(), &hints, &found) != 0) {
    return fail(Fault::kShortage, "no memory for an address");
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> address(found, &freeaddrinfo);

  const int descriptor =
      ::socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return fail_by(errno);
  const linger reset{.l_onoff = 1, .l_linger = 0};
  setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
  {
    const std::scoped_lock lock(mutex_);
    descriptor_ = descriptor;
  }
  if (::connect(descriptor, address->ai_addr, address->ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS) return fail_by(errno);
  if (!wait(POLLOUT)) return false;
  int error = 0;
  socklen_t size = sizeof(error);
  getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 || fail_by(error);
}

bool Connection::shake_hands(SSL_CTX* tls, const std::string& host, Protocol protocol) {
  tls_.reset(SSL_new(tls));
  if (tls_ == nullptr || SSL_set_fd(tls_.get(), descriptor_) != 1) {
    return fail(Fault::kShortage, "no memory for TLS");
  }
  in6_addr number{};
  const bool is_name = inet_pton(AF_INET, host.c_str(), &number) != 1 &&
                       inet_pton(AF_INET6, host.c_str(), &number) != 1;
  if (is_name) SSL_set_tlsext_host_name(tls_.get(), host.c_str());
  constexpr std::array<unsigned char, 3> kHttp2{2, 'h', '2'};
  const bool is_http2 = protocol == Protocol::kHttp2;
  if (is_http2) SSL_set_alpn_protos(tls_.get(), kHttp2.data(), kHttp2.size());
  while (true) {
    ERR_clear_error();
    const Step step = step_of_tls(SSL_connect(tls_.get()));
    if (step.size > 0) break;
    if (step.waits_for == 0) return fault_ != Fault::kNone ? false : fail(Fault::kBroken, "closed");
    if (!wait(step.waits_for)) return false;
  }
  const unsigned char* agreed = nullptr;
  unsigned int length = 0;
  SSL_get0_alpn_selected(tls_.get(), &agreed, &length);
  return !is_http2 || length > 0 || fail(Fault::kBroken, "the server does not speak HTTP/2");
}

void Connection::shut() {
  tls_.reset();
  const std::scoped_lock lock(mutex_);
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

void Connection::interrupt() {
  const std::scoped_lock lock(mutex_);
  if (descriptor_ >= 0) shutdown(descriptor_, SHUT_RDWR);
}

ssize_t Connection::read(char* to, std::size_t size) {
  if (begin_ == end_) {
    if (size >= buffer_.size()) {
      line_ = lines_ = 0;
      return receive(to, size);
    }
    const ssize_t received = receive(buffer_.data(), buffer_.size());
    if (received <= 0) return received;
    begin_ = 0;
    end_ = static_cast<std::size_t>(received);
  }
  // cpp-httplib reads lines byte by byte, in heads, chunks and trailers, but bodies in larger
  // pieces.
  const bool in_a_line = size == 1;
  size = std::min(size, end_ - begin_);
  std::copy_n(buffer_.data() + begin_, size, to);
  begin_ += size;
  if (!in_a_line) {
    line_ = lines_ = 0;
  } else if (++lines_ > kLongestHead || ++line_ > kLongestLine) {
    fail(Fault::kBroken, "the answer's head is too long");
    return -1;
  } else if (*to == '\n') {
    line_ = 0;
  }
  return static_cast<ssize_t>(size);
}

ssize_t Connection::receive(char* to, std::size_t size) {
  while (Clock::now() < deadline_) {
    const Step step = try_to_read(to, size);
    if (step.size > 0) return static_cast<ssize_t>(step.size);
    if (step.waits_for == 0) return is_closed_ ? 0 : -1;
    if (!wait(step.waits_for)) return -1;
  }
  fail(Fault::kTimedOut, "no answer in time");
  return -1;
}

Connection::Step Connection::try_to_read(char* to, std::size_t size) {
  if (tls_ != nullptr) {
    ERR_clear_error();
    return step_of_tls(
        SSL_read(tls_.get(), to, static_cast<int>(std::min<std::size_t>(size, 1U << 30U))));
  }
  const ssize_t received = recv(descriptor_, to, size, 0);
  if (received > 0) return {.size = static_cast<std::size_t>(received)};
  if (received == 0) {
    is_closed_ = true;
    return {};
  }
  if (errno == EAGAIN || errno == EINTR) return {.waits_for = POLLIN};
  fail_by(errno);
  return {};
}

ssize_t Connection::write(const char* from, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const Step step = try_to_write(from + done, size - done);
    done += step.size;
    if (step.size == 0 && (step.waits_for == 0 || !wait(step.waits_for))) return -1;
  }
  return static_cast<ssize_t>(size);
}

Connection::Step Connection::try_to_write(const char* from, std::size_t size) {
  if (tls_ != nullptr) {
    ERR_clear_error();
    return step_of_tls(
        SSL_write(tls_.get(), from, static_cast<int>(std::min<std::size_t>(size, 1U << 30U))));
  }
  const ssize_t sent = send(descriptor_, from, size, MSG_NOSIGNAL);
  if (sent > 0) return {.size = static_cast<std::size_t>(sent)};
  if (sent == 0 || errno == EAGAIN || errno == EINTR) return {.waits_for = POLLOUT};
  fail_by(errno);
  return {};
}

bool Connection::wait(short events) {
  while (true) {
    const Duration left = deadline_ - Clock::now();
    if (left <= Duration::zero()) return fail(Fault::kTimedOut, "no answer in time");
    pollfd waits{descriptor_, events, 0};
    const timespec time = timespec_of(left);
    if (ppoll(&waits, 1, &time, nullptr) > 0) return true;
  }
}

Connection::Step Connection::step_of_tls(int result) {
  if (result > 0) return {.size = static_cast<std::size_t>(result)};
  switch (SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {.waits_for = POLLIN};
    case SSL_ERROR_WANT_WRITE:
      return {.waits_for = POLLOUT};
    case SSL_ERROR_ZERO_RETURN:
      is_closed_ = true;
      return {};
    default: {
      const int error = errno;
      const unsigned long code = ERR_peek_error();
      const char* const reason = ERR_reason_error_string(code);
      const bool is_cut_off = ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
      const NoAnswer other = is_cut_off ? NoAnswer::kReset : NoAnswer::kOther;
      fail(Fault::kBroken, reason == nullptr ? "closed" : reason,
           code == 0 ? kind_of(error) : other);
      return {};
    }
  }
}

bool Connection::fail(Fault fault, const std::string& why, NoAnswer kind) {
  fault_ = fault;
  why_ = why;
  no_answer_ = kind;
  return false;
}

bool Connection::fail_by(int error) {
  return fail(is_shortage(error) ? Fault::kShortage : Fault::kBroken, std::strerror(error),
              kind_of(error));
}

}  // namespace retrystorm
