// The live page: serves it, tells it what happens, and takes its commands.
#pragma once

#include <httplib.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "client/dashboard/commands.h"
#include "client/dashboard/event_stream.h"
#include "client/dashboard/server_monitor.h"
#include "client/url.h"
#include "common/http/endpoint.h"

namespace retrystorm {

// On loopback only, and whoever wants to change anything must know the token and come from the page
// itself: no other page in the user's browser may freeze processes.
class Dashboard {
 public:
  struct Options {
    int port = 0;                         // 0 = any free one
    bool can_freeze = false;              // is there a process to freeze?
    std::optional<Url> server_status;     // see ServerMonitor; without it nobody is asked
    std::vector<Endpoint::Page> pages{};  // served besides: what they look at outlives the page
  };

  // Throws std::runtime_error with a sentence for a person when the port is not to be had.
  explicit Dashboard(const Options& options);
  ~Dashboard();

  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  int port() const { return port_; }

  // The page's address for a person who may change things: it holds the token.
  std::string address() const;

  bool can_freeze() const { return options_.can_freeze; }
  std::optional<ServerStatus> server_status() const {
    return monitor_ ? monitor_->status() : std::nullopt;
  }

  // Safe from any thread.
  EventStream& events() { return events_; }
  CommandQueue& commands() { return commands_; }

 private:
  void bind();
  void add_routes();
  void add_commands();
  void serve_events(httplib::Response& response);
  bool may_change(const httplib::Request& request) const;
  void handle(const Command& command, httplib::Response& response);

  const Options options_;
  const std::string token_;
  std::optional<ServerMonitor> monitor_;
  EventStream events_;
  CommandQueue commands_;
  httplib::Server server_;
  int port_ = 0;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace retrystorm
