// What the page asks of the experiment, taken from one thread to another.
#pragma once

#include <mutex>
#include <optional>
#include <queue>
#include <string>
#include <variant>

#include "model/base/duration.h"

namespace retrystorm {

struct FreezeCommand {
  Duration length;
};
struct WakeCommand {};
struct RestartCommand {
  std::string strategy;  // the name of one that there is
};
using Command = std::variant<FreezeCommand, WakeCommand, RestartCommand>;

// Safe from any thread.
class CommandQueue {
 public:
  // Returns whether there was room: nobody presses buttons faster than they are carried out.
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
