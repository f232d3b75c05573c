// Binds a cpp-httplib server to an address that nobody else has.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <cstddef>
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

// Ends `listen_after_bind` of another thread, which sets `ended` when it has returned. Safe from
// any thread.
void stop_listening(httplib::Server& server, const std::atomic<bool>& ended);

}  // namespace retrystorm
