// Binds a cpp-httplib server to an address that nobody else has.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>

namespace retrystorm {

// Where a server listens.
struct Address {
  std::string host = "127.0.0.1";
  std::size_t port = 0;  // 0 = any free one
};

// Somebody else listens there.
class AddressInUse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A bound socket, owned by its server.
struct Listening {
  int port = 0;
  int descriptor = -1;
};

// A server that is started anew may take over the address at once, but two never share it:
// cpp-httplib's default, SO_REUSEPORT, would let a second one take half the connections.
// Throws AddressInUse, or another std::runtime_error, with a sentence for a person.
Listening bind_alone(httplib::Server& server, const Address& address);

// Each connection carries one request, for cpp-httplib keeps a thread busy looking at idle ones;
// and whoever lets a thread wait for longer than `patience` is let go.
void serve_one_request_each(httplib::Server& server, std::chrono::seconds patience);

// Looks at a request before its body is read; returns whether it has answered it.
using Check = std::function<bool(const httplib::Request&, httplib::Response&)>;

// Lets in GET and HEAD, and POST where `largest_body` is not 0: cpp-httplib would read any body of
// any other method, as long as it goes on, into memory. Whatever else comes is answered 405, a body
// that is too long, or does not say how long it is, 413. Then comes `check`.
void check_before_reading(httplib::Server& server, std::size_t largest_body, Check check);

// Ends `listen_after_bind` of another thread, which sets `ended` when it has returned. Safe from
// any thread.
void stop_listening(httplib::Server& server, const std::atomic<bool>& ended);

}  // namespace retrystorm
