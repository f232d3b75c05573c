// A connection to a server, by TCP or TLS, that ends at its deadline.
#pragma once

#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "common/http/http_request.h"
#include "common/os/process.h"
#include "model/base/duration.h"
#include "model/retry/attempt.h"
#include "model/run/connections.h"

namespace retrystorm {

// Belongs to one attempt. All members are safe from any thread.
class Interruption {
 public:
  // The attempt ends soon, or if it has not begun, at once.
  void interrupt() {
    const std::scoped_lock lock(mutex_);
    interrupted_ = true;
    if (end_) end_();
  }
  bool interrupted() const {
    const std::scoped_lock lock(mutex_);
    return interrupted_;
  }

  // While it exists, `end` is called when the attempt is interrupted. `interruption` may be null.
  class Scope {
   public:
    Scope(Interruption* interruption, std::function<void()> end) : interruption_(interruption) {
      if (interruption_ == nullptr) return;
      const std::scoped_lock lock(interruption_->mutex_);
      if (interruption_->interrupted_) end();
      interruption_->end_ = std::move(end);
    }
    ~Scope() {
      if (interruption_ == nullptr) return;
      const std::scoped_lock lock(interruption_->mutex_);
      interruption_->end_ = nullptr;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Interruption* const interruption_;
  };

 private:
  mutable std::mutex mutex_;
  bool interrupted_ = false;
  std::function<void()> end_;
};

// What a request is written to and its answer read from. Nothing lasts beyond the deadline, whatever the other side
// sends, and no line is longer than `kLongestLine`. Not thread-safe, except for `interrupt`.
class Connection final {
 public:
  static constexpr std::size_t kLongestLine = 8 * 1024;
  static constexpr std::size_t kLongestHead = 64 * 1024;

  enum class Fault {
    kNone,
    kTimedOut,
    kBroken,   // refused, reset, closed, not trusted, or a head that is too long
    kShortage  // this machine has no descriptor, port or memory left for it
  };

  Connection() = default;
  ~Connection() { shut(); }

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  enum class Protocol { kHttp1, kHttp2 };

  // Connects to the URL's address, with TLS if the URL has `tls`. Returns false if it cannot, or if the
  // server does not agree to the protocol in the handshake. Do not call while open.
  bool open(const Url& url, SSL_CTX* tls, TimePoint deadline, Protocol protocol = Protocol::kHttp1);
  // Makes an open connection ready for the next request, which must end by the deadline.
  void renew(TimePoint deadline);
  bool is_open() const { return static_cast<bool>(socket_); }
  // Is it open, and has the server neither closed it nor sent anything unasked?
  bool can_be_used_again() const;
  // Closes with a reset, which frees the port at once. A normal close would keep the port for up to
  // a minute while the server holds the connection, and a retry storm would run out of ports.
  void shut();

  // Why the connection ended, if it has.
  Fault fault() const { return fault_; }
  // The same in words.
  const std::string& why() const { return why_; }
  // The kind of a fault that is not a timeout.
  NoAnswer no_answer() const { return no_answer_; }
  // Has anything of the answer to this request come?
  bool has_answer() const { return end_ > 0; }
  // True if the server has closed the connection.
  bool is_closed() const { return is_closed_; }

  bool write(std::string_view text);
  // Reads a line without its end. It may be as long as `most` and `kLongestLine`; its length is taken from `most`.
  // Returns false at a fault, or where the server has closed the connection.
  bool read_line(std::string& line, std::size_t& most);
  // Reads so many bytes, and adds them to `to` until that has `kept`. Returns false as `read_line`.
  bool read(std::uint64_t size, std::string& to, std::size_t kept);

  // What a read or write that does not wait has come to.
  struct Step {
    std::size_t size = 0;  // bytes
    short waits_for = 0;   // if none: the event of poll to wait for; 0 = the connection is over
  };
  // None takes for ever, although the other side may send without end.
  Step try_to_read(char* to, std::size_t size);
  Step try_to_write(const char* from, std::size_t size);

  // Makes the current operation fail soon. Safe from any thread.
  void interrupt();

  int socket() const { return socket_.number(); }

  ConnectionPlace place;  // its pool's

 private:
  bool connect(const Url& url);
  bool shake_hands(SSL_CTX* tls, const std::string& host, Protocol protocol);
  // Waits for data, and fills the buffer with it.
  bool fill();
  // Waits for one of poll's events. Returns false at the deadline.
  bool wait(short events);
  // What a call of OpenSSL that returned `result` has come to.
  Step step_of_tls(int result);
  // Records the fault. Always returns false.
  bool fail(Fault fault, const std::string& why, NoAnswer kind = NoAnswer::kOther);
  // Records that a system call failed with this error. Always returns false.
  bool fail_by(int error);

  TimePoint deadline_{};
  Fault fault_ = Fault::kNone;
  std::string why_;
  NoAnswer no_answer_ = NoAnswer::kOther;
  bool is_closed_ = false;

  std::mutex mutex_;  // guards changes to the descriptor
  Descriptor socket_;
  std::unique_ptr<SSL, decltype(&SSL_free)> tls_{nullptr, SSL_free};
  int reads_left_ = 0;  // of a step of `tls_`

  std::array<char, 4096> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // the unread part of the buffer
};

}  // namespace retrystorm
