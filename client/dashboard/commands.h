// The page's commands to the experiment, and the queue that takes them to its thread.
#pragma once

#include <mutex>
#include <optional>
#include <queue>
#include <string>
#include <variant>

#include "model/base/duration.h"
#include "model/run/timeline.h"

namespace retrystorm {

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

}  // namespace retrystorm
