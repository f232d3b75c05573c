// An outage made by two shell commands, for any service: one begins it, and one ends it. The end is
// always run.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "client/outage/watchdog.h"
#include "common/os/process.h"
#include "model/base/duration.h"

namespace retrystorm {

struct OutageCommands {
  std::string begin{};
  std::string end{};  // empty: nothing to run at the end
  // How long the end may run before it is terminated.
  Duration end_limit = std::chrono::seconds(30);
};

// Runs the commands with /bin/sh, in order and one at a time, from a separate process, the runner.
// Neither process blocks the other. Once an outage has begun, its end is always run, on time: even if
// this process is stopped, and even if its whole process group is killed. If the runner is killed,
// another one takes its place. The output of the commands goes to standard error. Not thread-safe.
class OutageCommand {
 public:
  // Throws std::runtime_error with a readable message.
  explicit OutageCommand(const OutageCommands& commands);

  // Both start their command and return at once. The outage ends at `until`, or when `end` is
  // called before that. If the begin still runs when the outage must end, or if the end takes too
  // long, the command is terminated, and killed if it is not gone within two seconds. Both throw
  // std::runtime_error if no runner can be started.
  void begin(TimePoint until);
  void end();

  // The commands that failed or did not end since the last call, each as a readable sentence. Waits
  // at most `patience` for commands that still run.
  std::vector<std::string> take_news(Duration patience = Duration::zero());

  // As of the last `take_news`: true if a command still runs, and how many failed.
  bool under_way() const { return under_way_ > 0; }
  std::size_t failures() const { return failures_; }
  // Has the command that began the last outage failed? There may have been no outage then.
  bool begin_failed() const { return begin_failed_; }
  // Has the command that ends it failed? The outage may go on then.
  bool end_failed() const { return end_failed_ || in_doubt(); }

  // True if an outage may still go on although it should be over: its end still runs, did not end
  // in time or could not be started, or the runner was killed.
  bool in_doubt() const { return in_doubt_ || ends_due_ > 0; }

 private:
  // How a command ended, sent by the runner. Each outage has two: one for its begin and one for its
  // end.
  struct Report {
    enum class Fate : char { kEnded, kTerminated, kNotStarted };
    char word;  // which command
    Fate fate;
    int status;  // kEnded: as `waitpid` returns it
  };
  class Runner;

  void start_runner();
  void replace_runner();
  void send(const WatchdogMessage& message);
  void take_reports(TimePoint until);
  void take(const Report& report);
  // What to do when the end has failed.
  std::string by_hand() const;

  const OutageCommands commands_;
  Descriptor reports_;  // from the runner
  std::optional<Watchdog> runner_;
  int runners_lost_ = 0;  // in the last outage

  bool in_outage_ = false;  // from `begin` to `end`
  TimePoint until_{};
  int under_way_ = 0;  // commands ordered minus reports; -1 if an end came before it was ordered
  int ends_due_ = 0;   // outages that have begun and whose end has not been reported
  std::size_t failures_ = 0;
  bool begin_failed_ = false, end_failed_ = false;
  bool in_doubt_ = false;
  std::vector<std::string> news_;
};

}  // namespace retrystorm
