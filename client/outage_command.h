// An outage of any service by commands: one that begins it, and one that ends it, whatever happens.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "client/watchdog.h"
#include "model/base/duration.h"

namespace retrystorm {

struct OutageCommands {
  std::string begin;
  std::string end;  // empty: none is needed
};

// Runs them by /bin/sh, in order and one at a time, in a process of their own that is not held up
// by this one nor holds it up. Where the outage has begun, the end is run however this process
// ends, also when it is killed with all its process group. What the commands print goes to
// standard error. For one thread.
class OutageCommand {
 public:
  // Throws std::runtime_error with a sentence for a person. Construct it before any thread is
  // started, for it forks.
  explicit OutageCommand(const OutageCommands& commands);
  ~OutageCommand();

  OutageCommand(const OutageCommand&) = delete;
  OutageCommand& operator=(const OutageCommand&) = delete;

  // Has the command run; both return at once. A command that begins the outage and still runs at
  // its end is terminated, and killed if it is not gone within two seconds; the one that ends an
  // outage has all the time it needs. Throw std::runtime_error when the process that runs them is
  // gone.
  void begin();
  void end();

  // What has happened since the last time, a sentence for a person each: commands that failed or
  // did not end. Waits so long for commands that still run.
  std::vector<std::string> take_news(Duration patience = Duration::zero());

  // Commands that still run, or are to be run, as far as `take_news` has heard; and of those that
  // ended, how many failed.
  std::size_t under_way() const { return under_way_; }
  std::size_t failures() const { return failures_; }

 private:
  // What became of a command, as one process tells the other: each that was told to run has one.
  struct Report {
    enum class Fate : char { kEnded, kTerminated, kNotStarted };
    char word;
    Fate fate;
    int status;  // of one that ended, as `waitpid` has it
  };
  class Runner;

  void tell(char word);
  void take(const Report& report, std::vector<std::string>& news);

  int reports_ = -1;  // from the process that runs the commands
  std::optional<Watchdog> watchdog_;
  std::size_t under_way_ = 0;
  std::size_t failures_ = 0;
};

}  // namespace retrystorm
