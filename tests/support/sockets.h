// Plain sockets on loopback: clients that misbehave, and servers that do.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "model/base/duration.h"

namespace retrystorm::test {

// A connection. Closed with the object.
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

  // Returns whether all could be sent.
  bool send(std::string_view text) const;

  // Reads until `enough` is in it, the other side closes, or the time is over.
  std::string receive(Duration within, std::string_view enough = {}) const;

  // Whether the other side closes, or resets, in time. What it sends before is dropped.
  bool closed_by_peer(Duration within) const;

  // From now on, closing resets the connection.
  void reset_on_close() const;

 private:
  int descriptor_ = -1;
};

// Throws std::runtime_error when it is refused.
Socket connect_to(int port);

// Sends a whole request and returns the whole answer, empty when there is none in time.
std::string get(int port, Duration within, const std::string& path = "/api");

class Listener {
 public:
  explicit Listener(int backlog = 128);

  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/api"; }

  // An empty socket when nobody comes in time.
  Socket accept(Duration within) const;

 private:
  Socket socket_;
  int port_ = 0;
};

// A listener whose accept queue is full: whoever connects hangs.
class FullListener {
 public:
  FullListener();

  std::string url() const { return listener_.url(); }
  int port() const { return listener_.port(); }

 private:
  Listener listener_{0};
  std::vector<Socket> fillers_;
};

// Serves one connection after the other on a thread of its own, in whatever way it is told.
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

// What a fake server can do with its connection: answer the request with this status, ...
void answer(const Socket& socket, const std::string& status);
// ... send a byte of an endless answer now and then until the client goes, ...
void drip(const Socket& socket);
// ... or end it at once.
void reset(const Socket& socket);

}  // namespace retrystorm::test
