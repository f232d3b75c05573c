#include "client/outage/outage_command.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace retrystorm {
namespace {

constexpr char kBegin = 'b';
constexpr char kEnd = 'e';

// How long a terminated command has to clean up before it is killed.
constexpr Duration kGrace = std::chrono::seconds(2);

// A limit, because a command that kills the runner would kill each new one too.
constexpr int kMostRunnersLost = 3;

std::string_view name_of(char word) {
  return word == kBegin ? "--outage-begin" : "--outage-end";
}

}  // namespace

// Runs in the other process. Runs one command at a time, and can end the outage at any time.
class OutageCommand::Runner {
 public:
  // `begun`: an outage is already in force, until `until`.
  Runner(const OutageCommands& commands, int messages, int reports, bool begun, TimePoint until)
      : commands_(commands),
        messages_(messages),
        reports_(reports),
        begun_(begun),
        until_(begun ? until : TimePoint::max()) {}

  // Runs until there are no more messages. Then ends what has begun.
  void run() {
    while (true) {
      std::array<pollfd, 2> both{{{messages_, POLLIN, 0}, {descriptor_, POLLIN, 0}}};
      poll(both.data(), both.size(), milliseconds_until(std::min(until_, limit_)));
      if (both[1].revents != 0) reap(Report::Fate::kEnded);
      if (Clock::now() >= limit_) terminate();
      if (both[0].revents != 0) {
        WatchdogMessage message{};
        if (!read_message(messages_, message)) break;
        if (message.what == kBegin) begin(message.until);
        if (message.what == kEnd) end();
      }
      if (Clock::now() >= until_) end();
    }
    end();
    wait_for_command();
  }

 private:
  void begin(TimePoint until) {
    wait_for_command();  // the end of the last outage
    begun_ = true;
    until_ = until;
    start(kBegin, commands_.begin);
  }

  // Does nothing if the outage has already ended at its time.
  void end() {
    if (!std::exchange(begun_, false)) return;
    until_ = TimePoint::max();
    if (descriptor_ >= 0) terminate();
    if (commands_.end.empty()) {
      return report({.word = kEnd, .fate = Report::Fate::kEnded, .status = 0});
    }
    limit_ = saturating_add(Clock::now(), commands_.end_limit);
    start(kEnd, commands_.end);
  }

  void start(char word, const std::string& command) {
    word_ = word;
    command_ = fork();
    if (command_ == 0) exec(command);
    if (command_ > 0) {
      setpgid(command_, command_);  // the child does the same: one of the two is first
      descriptor_ = pidfd_open(command_, 0);
    }
    if (command_ < 0) {
      limit_ = TimePoint::max();
      report({.word = word, .fate = Report::Fate::kNotStarted, .status = 0});
    }
    if (command_ > 0 && descriptor_ < 0) reap(Report::Fate::kEnded);
  }

  [[noreturn]] void exec(const std::string& command) const {
    setpgid(0, 0);  // so that it can be terminated with all that it starts
    // If the runner is killed, nobody could terminate the begin when the outage must end.
    if (word_ == kBegin) prctl(PR_SET_PDEATHSIG, SIGTERM);
    for (const int number :
         {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ}) {
      std::signal(number, SIG_DFL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    // Standard output is reserved for the clients' lines.
    dup2(STDERR_FILENO, STDOUT_FILENO);
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }

  void terminate() {
    kill(-command_, SIGTERM);
    kill(-command_, SIGCONT);  // if it was stopped, it must run to take the signal
    if (!ends_until(saturating_add(Clock::now(), kGrace))) kill(-command_, SIGKILL);
    reap(Report::Fate::kTerminated);
  }

  // This is always the command that ends an outage: the begin has been terminated before it.
  void wait_for_command() {
    if (descriptor_ < 0) return;
    if (ends_until(limit_)) return reap(Report::Fate::kEnded);
    terminate();
  }

  bool ends_until(TimePoint time) const { return is_ready(descriptor_, POLLIN, time); }

  // Waits for the command's end if it still runs.
  void reap(Report::Fate fate) {
    int status = 0;
    while (waitpid(command_, &status, 0) < 0 && errno == EINTR) {
    }
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
    limit_ = TimePoint::max();
    report({.word = word_, .fate = fate, .status = status});
  }

  void report(const Report& report) const {
    // The reader may be gone.
    [[maybe_unused]] const auto written = write(reports_, &report, sizeof(report));
  }

  const OutageCommands& commands_;
  const int messages_, reports_;
  bool begun_;
  TimePoint until_;  // when the outage ends without a message
  // The current command:
  char word_ = 0;
  pid_t command_ = -1;
  int descriptor_ = -1;                 // becomes readable when it ends; -1: no command runs
  TimePoint limit_ = TimePoint::max();  // when the command that ends an outage is terminated
};

OutageCommand::OutageCommand(const OutageCommands& commands) : commands_(commands) {
  start_runner();
}

// If an outage is still in force, the new runner ends it at its time, or at once if that has
// passed.
void OutageCommand::start_runner() {
  std::array<Descriptor, 2> pipe = make_pipe();
  const bool begun = ends_due_ > 0;
  const TimePoint until = in_outage_ ? until_ : TimePoint::min();
  runner_.emplace("outage-commands", pipe[1].number(), [&](int messages) {
    std::signal(SIGPIPE, SIG_IGN);
    Runner(commands_, messages, pipe[1].number(), begun, until).run();
  });
  reports_ = std::move(pipe[0]);
}

// Throws std::runtime_error if no runner can be started.
void OutageCommand::replace_runner() {
  const std::string lost = "the process that runs the outage's commands was killed";
  runner_.reset();
  reports_ = {};
  failures_ += static_cast<std::size_t>(std::max(under_way_, 0));  // how they ended is unknown
  under_way_ = 0;
  if (ends_due_ > 0) in_doubt_ = true;
  if (++runners_lost_ > kMostRunnersLost) {
    throw std::runtime_error(lost + " again and again: --outage-end may not have run" + by_hand());
  }
  start_runner();
  ends_due_ = std::min(ends_due_, 1);
  under_way_ = ends_due_ - (in_outage_ ? 1 : 0);
  news_.push_back(
      lost + (ends_due_ > 0 ? ": a new one runs --outage-end" : ": a new one takes its place"));
}

void OutageCommand::begin(TimePoint until) {
  runners_lost_ = 0;
  send({.what = kBegin, .until = until});
  until_ = until;
  in_outage_ = true;
  ++under_way_;
  ++ends_due_;
}

void OutageCommand::end() {
  if (!in_outage_) return;
  send({.what = kEnd});
  in_outage_ = false;
  ++under_way_;
}

void OutageCommand::send(const WatchdogMessage& message) {
  if (runner_ && runner_->send(message)) return;
  const int lost = runners_lost_;
  take_reports(TimePoint::min());  // those from before it was killed
  if (runners_lost_ == lost) replace_runner();
  runner_->send(message);
}

std::vector<std::string> OutageCommand::take_news(Duration patience) {
  try {
    take_reports(saturating_add(Clock::now(), patience));
  } catch (const std::runtime_error& error) {
    news_.emplace_back(error.what());
  }
  return std::exchange(news_, {});
}

void OutageCommand::take_reports(TimePoint until) {
  while (reports_ &&
         is_ready(reports_.number(), POLLIN, under_way_ > 0 ? until : TimePoint::min())) {
    Report report{};
    if (read(reports_.number(), &report, sizeof(report)) == sizeof(report)) {
      take(report);
    } else {
      replace_runner();
    }
  }
}

std::string OutageCommand::by_hand() const {
  return "; the outage may go on, so end it by hand: " + commands_.end;
}

void OutageCommand::take(const Report& report) {
  --under_way_;
  if (report.word == kEnd) {
    --ends_due_;
    if (report.fate != Report::Fate::kEnded) in_doubt_ = true;
  }
  std::string how;
  if (report.fate == Report::Fate::kNotStarted) {
    how = "could not be started: the system has no more processes";
  } else if (report.fate == Report::Fate::kTerminated) {
    how = "had not ended " +
          (report.word == kEnd ? "after " + format_duration(commands_.end_limit)
                               : "at the end of the outage") +
          ", and was terminated";
  } else if (WIFSIGNALED(report.status)) {
    how = "was ended by signal " + std::to_string(WTERMSIG(report.status));
  } else if (WEXITSTATUS(report.status) != 0) {
    how = "failed: exit code " + std::to_string(WEXITSTATUS(report.status));
  } else {
    return;
  }
  news_.push_back("the command of " + std::string(name_of(report.word)) + ' ' + how +
                  (report.word == kEnd && !begin_failed_ ? by_hand() : ""));
  ++failures_;
  // One that was terminated has run until the end of the outage.
  if (report.word == kEnd) end_failed_ = true;
  if (report.word == kBegin && report.fate != Report::Fate::kTerminated) begin_failed_ = true;
}

}  // namespace retrystorm
