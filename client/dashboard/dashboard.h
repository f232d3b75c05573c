// The live page: serves it, sends it events, and takes its commands.
#pragma once

#include <httplib.h>

#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "client/dashboard/event_stream.h"
#include "common/http/http_request.h"
#include "common/http/page_server.h"
#include "model/base/duration.h"
#include "model/run/timeline.h"

namespace retrystorm {

// The page's files, compiled into the program.
struct Asset {
  std::string_view name;  // of the file
  std::string_view content;
};

std::span<const Asset> assets();

// The page's commands to the experiment, and the queue that takes them to its thread.
struct FreezeCommand {
  Duration length;
};
struct WakeCommand {};
struct RestartCommand {
  std::string strategy;  // the name of an existing strategy
};
struct ActCommand {
  Action action{};  // what --at could do now
};
using Command = std::variant<FreezeCommand, WakeCommand, RestartCommand, ActCommand>;

// Safe from any thread.
class CommandQueue {
 public:
  // Returns false if the queue is full. It is short: people do not press buttons faster than the
  // commands are carried out.
  bool push(const Command& command) {
    const std::scoped_lock lock(mutex_);
    if (queue_.size() >= 8) return false;
    queue_.push(command);
    return true;
  }

  std::optional<Command> pop() {
    const std::scoped_lock lock(mutex_);
    if (queue_.empty()) return std::nullopt;
    const Command command = queue_.front();
    queue_.pop();
    return command;
  }

 private:
  std::mutex mutex_;
  std::queue<Command> queue_;
};

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
