// A listening socket, at an address that no other socket shares.
#pragma once

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "common/os/descriptor.h"
#include "model/service/service_observer.h"

namespace retrystorm {

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
