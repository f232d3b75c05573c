// Listens on a port, and answers HTTP requests on connections that the caller has accepted, with limits on time and
// memory.
#pragma once

#include <httplib.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>

#include "common/os/process.h"
#include "model/base/duration.h"
#include "model/service/service_observer.h"

namespace retrystorm {

// The head of a request, or the part of it that has arrived. cpp-httplib alone would read lines of
// any length, and restart its timeout for each part.
class RequestHead {
 public:
  enum class State {
    kIncomplete,
    kComplete,
    kTooLong,  // more than `kLongest`
    kGone      // the other side has ended the connection
  };
  static constexpr std::size_t kLongest = 16 * 1024;

  // Reads what has arrived, without waiting.
  State read_from(int connection);

  // What has been read: the head, perhaps followed by part of the body.
  std::string& text() { return text_; }

 private:
  std::string text_;
};

// A cpp-httplib server that never listens. Safe from any thread once it has its routes.
class RequestServer final : public httplib::Server {
 public:
  RequestServer();

  // Reads one request, whose head must arrive within `patience`, and answers it. Returns whether the
  // connection can be kept for the next request, which the client has asked for with `Connection:
  // keep-alive`. Otherwise the caller closes it. Throws what the handlers do not catch, such as
  // std::bad_alloc.
  bool serve(int connection, Duration patience);

  // Does the same for a request whose head has already been read. Without `keeps`, the connection is closed in any case.
  bool answer(int connection, RequestHead head, Duration patience, bool keeps = false);

  // Answers a request whose head is too long, without waiting.
  static void refuse_head(int connection);
};

// Checks a request before its body is read. Returns true if it has already answered the request.
using Check = std::function<bool(const httplib::Request&, httplib::Response&)>;

// Accepts GET and HEAD, and also POST if `largest_body` is not 0. For other methods cpp-httplib
// would read a body of any size into memory. Any other method is answered with 405. A body that is
// too long (in bytes), or has no Content-Length, is answered with 413. `check` runs after these
// checks.
void check_before_reading(httplib::Server& server, std::size_t largest_body, Check check);

// Where a server listens.
struct Address {
  std::string host = "127.0.0.1";
  std::size_t port = 0;  // 0 = any free one
};

// "127.0.0.1:8070", "[::1]:8070": the address as it stands in a URL.
std::string print_address(const Address& address);

// Another socket already listens at this address.
class AddressInUse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A restarted server can use the address again at once, but two servers never share it. When the
// listener is destroyed, the kernel resets the connections not yet accepted.
class Listener {
 public:
  // Throws AddressInUse, or another std::runtime_error, with a readable message.
  Listener(const Address& address, std::size_t backlog);

  std::size_t port() const { return port_; }
  int descriptor() const { return socket_.number(); }

  // Waits for a connection. Returns an empty descriptor if the other side has already closed it,
  // the process has no descriptors left, or the listener is shut down. Safe from any thread.
  Descriptor accept() const;

  // What waits in its accept queue, and what had no room there since it listens.
  KernelState kernel_state() const;

  // From now on `accept` returns at once, including calls that are already waiting. Safe from any
  // thread.
  void shut_down();
  bool is_shut_down() const { return shut_down_; }

 private:
  Descriptor socket_;
  std::size_t port_ = 0;
  std::atomic<bool> shut_down_{false};
};

}  // namespace retrystorm
