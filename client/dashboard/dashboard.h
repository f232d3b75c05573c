// The live page: serves it, sends it events, and takes its commands.
#pragma once

#include <httplib.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "client/dashboard/commands.h"
#include "client/dashboard/event_stream.h"
#include "common/http/http_request.h"
#include "common/http/page_server.h"

namespace retrystorm {

// Listens on loopback only. A change needs the token and must come from the page itself, so that no
// other page in the user's browser can freeze processes.
class Dashboard {
 public:
  struct Options {
    int port = 0;                           // 0 = any free one
    bool can_freeze = false;                // true if there is a process to freeze
    bool can_order = false;                 // true if the server takes orders (see ServerControl)
    std::vector<PageServer::Page> pages{};  // more pages; what they read must outlive the dashboard
  };

  // Throws std::runtime_error with a readable message if the port or its threads are not available.
  explicit Dashboard(const Options& options);
  ~Dashboard();

  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  int port() const { return port_->port(); }

  // The page's address with the token. Whoever has it may change the run.
  std::string address() const;

  bool can_freeze() const { return options_.can_freeze; }
  bool can_order() const { return options_.can_order; }

  // Safe from any thread.
  EventStream& events() { return events_; }
  CommandQueue& commands() { return commands_; }

 private:
  void open_port();
  void add_routes();
  void add_commands();
  void serve_events(httplib::Response& response);
  bool may_change(const httplib::Request& request) const;
  void handle(const Command& command, httplib::Response& response);

  const Options options_;
  const std::string token_;
  EventStream events_;
  CommandQueue commands_;
  std::optional<LoopbackServer> port_;
};

}  // namespace retrystorm
