// A port on loopback that accepts HTTP requests and answers them on its own threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "common/http/listening.h"
#include "common/http/request_server.h"
#include "common/os/descriptor.h"
#include "model/base/duration.h"

namespace retrystorm {

// One thread reads the heads of all requests, and other threads answer the complete ones. A
// complete request therefore never waits for silent or slow connections, however many there are. If
// too many are open, the oldest one is closed. Takes one request per connection.
class LoopbackServer {
 public:
  // Listens on 127.0.0.1; port 0 is any free one. `patience` limits the time for a head, for a body
  // and for each part of an answer. Throws AddressInUse, or another std::runtime_error, if the port
  // is not available.
  LoopbackServer(std::size_t port, Duration patience);

  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;

  int port() const { return static_cast<int>(listener_.port()); }

  // Add the routes to it before `start`.
  httplib::Server& server() { return server_; }

  // Answers on this number of threads until its destruction. Throws std::system_error if they
  // cannot be started.
  void start(std::size_t threads);

 private:
  struct Connection {
    Descriptor socket{};
    RequestHead head{};
    TimePoint until{};  // deadline for the head
  };

  void read_heads(const std::stop_token& stop);  // runs on a thread
  void wait_and_read();
  void accept();
  // Reads the part of the head that has arrived. Returns true if more is expected. Otherwise the
  // connection has been handed over, or must be closed.
  bool read(Connection& connection);
  void work(const std::stop_token& stop);  // runs on a thread
  void answer(Connection connection);
  void wake() const;

  const Duration patience_;
  RequestServer server_;
  const Listener listener_;
  const Descriptor wake_;         // readable when the reading thread must check its state
  std::deque<Connection> heads_;  // only for the reading thread; oldest first

  std::mutex mutex_;
  std::condition_variable_any work_;
  std::deque<Connection> ready_;  // connections with a complete head
  std::vector<std::jthread> threads_;
};

}  // namespace retrystorm
