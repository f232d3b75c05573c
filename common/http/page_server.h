// Web servers of this machine only, and who may change something over them.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/http/request_server.h"
#include "common/os/process.h"
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

// The header in which the secret is sent.
inline constexpr const char* kTokenHeader = "X-Retrystorm-Token";

// 128 random bits in hexadecimal. Throws std::runtime_error if the system cannot provide them.
std::string make_token();

// Compares in constant time: where the strings differ does not change the time it takes.
bool same_secret(std::string_view a, std::string_view b);

// Returns true if the Host header names this port of 127.0.0.1. Any other name may belong to
// another site whose DNS entry points at this machine.
bool is_our_address(const httplib::Request& request, int port);

// The port for metrics and status: none (std::nullopt), any free port (0), or this one.
using WatchPort = std::optional<std::size_t>;

// "any", a port, or 0 for none. Throws std::invalid_argument.
WatchPort parse_watch_port(const std::string& text);

// Answers GET on separate threads from its construction to its destruction, no matter how busy the
// program's server or clients are.
class PageServer {
 public:
  struct Page {
    std::string path;
    std::string content_type;
    std::function<std::string()> render;  // called from any thread, also concurrently
  };

  // Commands that clients that know the token may post.
  struct Commands {
    std::string token;
    std::size_t largest_body;
    // By their paths. Called from any thread, also concurrently. std::invalid_argument is answered with status 400, any
    // other exception with 500.
    std::map<std::string, std::function<void(const std::string& body)>> all;
  };

  // Listens on 127.0.0.1; port 0 is any free one. Throws AddressInUse if the port is in use, and
  // another std::runtime_error if the port or the threads are not available. The data that the
  // pages show must outlive the server.
  PageServer(std::size_t port, const std::vector<Page>& pages, const Commands& commands = {});

  int port() const { return port_.port(); }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port()); }

 private:
  LoopbackServer port_;
};

}  // namespace retrystorm
