// Plain sockets on loopback, for clients and servers that misbehave.
#pragma once

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "model/base/duration.h"

namespace retrystorm::test {

// A connection. The destructor closes it.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket();

  explicit operator bool() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  // Returns true if all of it could be sent.
  bool send(std::string_view text) const;

  // Reads until the text contains `enough`, the other side closes, or the time is over.
  std::string receive(Duration within, std::string_view enough = {}) const;

  // Returns true if the other side closes or resets the connection in time. Drops what it sends
  // before that.
  bool closed_by_peer(Duration within) const;

  // From now on, closing resets the connection.
  void reset_on_close() const;

 private:
  int descriptor_ = -1;
};

// Throws std::runtime_error if the connection is refused.
Socket connect_to(int port);

// Sends a complete request and returns the complete answer; empty if none comes in time.
std::string get(int port, Duration within, const std::string& path = "/api");

class Listener {
 public:
  explicit Listener(int backlog = 128, int port = 0);  // 0 = any free one

  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/api"; }

  // Returns an empty socket if no connection comes in time.
  Socket accept(Duration within) const;

 private:
  Socket socket_;
  int port_ = 0;
};

// A listener whose accept queue is full, so that connecting to it hangs.
class FullListener {
 public:
  FullListener();

  std::string url() const { return listener_.url(); }
  int port() const { return listener_.port(); }

 private:
  Listener listener_{0};
  std::vector<Socket> fillers_;
};

// Serves one connection at a time on a separate thread, with the given function.
class FakeServer {
 public:
  explicit FakeServer(std::function<void(Socket)> serve);
  ~FakeServer();

  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  std::string url() const { return listener_.url(); }
  int port() const { return listener_.port(); }

 private:
  Listener listener_;
  std::function<void(Socket)> serve_;
  std::jthread thread_;
};

// Whether an HTTP answer has this status.
MATCHER_P(HasStatus, status, "") {
  return std::string_view(arg).starts_with("HTTP/1.1 " + std::to_string(status));
}

// Whether it has this line, such as "Retry-After: 1", before its body.
MATCHER_P(HasHeader, line, "") {
  const std::string text = arg;
  return text.substr(0, text.find("\r\n\r\n") + 2).find("\r\n" + std::string(line) + "\r\n") !=
         text.npos;
}

// Whether this, and nothing else, stands after its head.
MATCHER_P(HasBody, body, "") {
  const std::string text = arg;
  const std::size_t end = text.find("\r\n\r\n");
  return end != text.npos && text.substr(end + 4) == body;
}

// Functions for a `FakeServer`. This one answers the request with this status.
void answer(const Socket& socket, const std::string& status);
// Sends an endless answer, one byte now and then, until the client closes the connection.
void drip(const Socket& socket);
// Resets the connection at once.
void reset(const Socket& socket);

}  // namespace retrystorm::test
