// A small HTTP server on loopback for those who watch a program: its metrics and its status.
#pragma once

#include <httplib.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace retrystorm {

// Where those who watch a program find it: nowhere, at any free port (0), or at this one.
using WatchPort = std::optional<std::size_t>;

// "any", a port, or 0 for none. Throws std::invalid_argument.
WatchPort parse_watch_port(const std::string& text);

// Answers GET on its own threads from its construction to its destruction, whatever the program's
// own server or clients are doing. One request a connection.
class Endpoint {
 public:
  struct Page {
    std::string path;
    std::string content_type;
    std::function<std::string()> render;  // called from any thread, also from two at once
  };

  // Something that those who know the token may post.
  struct Command {
    std::string path;
    std::size_t largest_body;
    // Called from any thread, also from two at once. Returns the answer's text; what it throws as
    // std::invalid_argument is the asker's fault (400), any other exception is not (500).
    std::function<std::string(const std::string& body)> carry_out;
  };
  struct Commands {
    std::string token;
    std::vector<Command> all;
  };

  // Listens on 127.0.0.1; port 0 is any free one. Throws AddressInUse, or another
  // std::runtime_error, when the port cannot be had. What the pages look at outlives the endpoint.
  Endpoint(std::size_t port, const std::vector<Page>& pages, const Commands& commands = {});
  ~Endpoint();

  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  httplib::Server server_;
  int port_ = 0;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace retrystorm
