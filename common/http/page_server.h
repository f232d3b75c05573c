// The pages that a program serves on its local port, such as /metrics and /status.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/http/loopback_server.h"

namespace retrystorm {

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

  // A command that clients that know the token may post.
  struct Command {
    std::string path;
    std::size_t largest_body;
    // Called from any thread, also concurrently. Returns the answer's text. std::invalid_argument
    // is answered with status 400, any other exception with 500.
    std::function<std::string(const std::string& body)> carry_out;
  };
  struct Commands {
    std::string token;
    std::vector<Command> all;
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
