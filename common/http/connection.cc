#include "common/http/connection.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

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

// OpenSSL would read on as long as records come that are no data. A handshake takes some twenty reads.
constexpr int kMostReads = 64;

// A callback of OpenSSL's: after so many reads, nothing more seems to be there.
long bound_reads(BIO* bytes, int operation, const char* /*to*/, std::size_t /*size*/,
                 int /*number*/, long /*number*/, int result, std::size_t* /*processed*/) {
  if (operation != BIO_CB_READ) return result;
  if (--*reinterpret_cast<int*>(BIO_get_callback_arg(bytes)) >= 0) return result;
  BIO_clear_retry_flags(bytes);
  BIO_set_retry_read(bytes);
  return -1;
}

}  // namespace

void Connection::renew(TimePoint deadline) {
  deadline_ = deadline;
  fault_ = Fault::kNone;
  why_.clear();
  is_closed_ = false;
  begin_ = end_ = 0;
}

bool Connection::can_be_used_again() const {
  return socket_ && !is_closed_ && begin_ == end_ && !is_ready(socket(), POLLIN | POLLRDHUP);
}

bool Connection::open(const Url& url, SSL_CTX* tls, TimePoint deadline, Protocol protocol) {
  renew(deadline);
  if (!connect(url)) return false;
  if (protocol == Protocol::kHttp2) {
    // A small frame would wait for the answer to the one before it.
    constexpr int kOn = 1;
    setsockopt(socket(), IPPROTO_TCP, TCP_NODELAY, &kOn, sizeof(kOn));
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

  Descriptor made = Descriptor::of_connection(
      ::socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made) return fail_by(errno);
  const int descriptor = made.number();
  const linger reset{.l_onoff = 1, .l_linger = 0};
  setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
  {
    const std::scoped_lock lock(mutex_);
    socket_ = std::move(made);
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
  if (tls_ == nullptr || SSL_set_fd(tls_.get(), socket()) != 1) {
    return fail(Fault::kShortage, "no memory for TLS");
  }
  BIO* const bytes = SSL_get_rbio(tls_.get());
  BIO_set_callback_arg(bytes, reinterpret_cast<char*>(&reads_left_));
  BIO_set_callback_ex(bytes, bound_reads);
  reads_left_ = kMostReads;
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
  socket_ = {};
}

void Connection::interrupt() {
  const std::scoped_lock lock(mutex_);
  if (socket_) shutdown(socket(), SHUT_RDWR);
}

bool Connection::read_line(std::string& line, std::size_t& most) {
  line.clear();
  while (true) {
    if (begin_ == end_ && !fill()) return false;
    const std::string_view unread(buffer_.data() + begin_, end_ - begin_);
    const std::string_view part = unread.substr(0, unread.find('\n'));
    line += part;
    begin_ += part.size();
    if (line.size() >= std::min(most, kLongestLine)) {
      return fail(Fault::kBroken, "the answer's head is too long");
    }
    if (begin_ < end_) break;
  }
  ++begin_;
  most -= line.size() + 1;
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

bool Connection::read(std::uint64_t size, std::string& to, std::size_t kept) {
  while (size > 0) {
    if (begin_ == end_ && !fill()) return false;
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(size, end_ - begin_));
    to.append(buffer_.data() + begin_, std::min(part, kept - to.size()));
    begin_ += part;
    size -= part;
  }
  return true;
}

bool Connection::fill() {
  while (Clock::now() < deadline_) {
    const Step step = try_to_read(buffer_.data(), buffer_.size());
    if (step.size > 0) {
      begin_ = 0;
      end_ = step.size;
      return true;
    }
    if (step.waits_for == 0 || !wait(step.waits_for)) return false;
  }
  return fail(Fault::kTimedOut, "no answer in time");
}

Connection::Step Connection::try_to_read(char* to, std::size_t size) {
  if (tls_ != nullptr) {
    ERR_clear_error();
    return step_of_tls(
        SSL_read(tls_.get(), to, static_cast<int>(std::min<std::size_t>(size, 1U << 30U))));
  }
  const ssize_t received = recv(socket(), to, size, 0);
  if (received > 0) return {.size = static_cast<std::size_t>(received)};
  if (received == 0) {
    is_closed_ = true;
    return {};
  }
  if (errno == EAGAIN || errno == EINTR) return {.waits_for = POLLIN};
  fail_by(errno);
  return {};
}

bool Connection::write(std::string_view text) {
  while (!text.empty()) {
    const Step step = try_to_write(text.data(), text.size());
    text.remove_prefix(step.size);
    if (step.size == 0 && (step.waits_for == 0 || !wait(step.waits_for))) return false;
  }
  return true;
}

Connection::Step Connection::try_to_write(const char* from, std::size_t size) {
  if (tls_ != nullptr) {
    ERR_clear_error();
    return step_of_tls(
        SSL_write(tls_.get(), from, static_cast<int>(std::min<std::size_t>(size, 1U << 30U))));
  }
  const ssize_t sent = send(socket(), from, size, MSG_NOSIGNAL);
  if (sent > 0) return {.size = static_cast<std::size_t>(sent)};
  if (sent == 0 || errno == EAGAIN || errno == EINTR) return {.waits_for = POLLOUT};
  fail_by(errno);
  return {};
}

bool Connection::wait(short events) {
  // Not after the deadline, even if something is there: it might go on for ever.
  return (Clock::now() < deadline_ && is_ready(socket(), events, deadline_)) ||
         fail(Fault::kTimedOut, "no answer in time");
}

Connection::Step Connection::step_of_tls(int result) {
  reads_left_ = kMostReads;  // of the next one
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
