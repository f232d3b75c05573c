#include "client/outage_command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {  // glibc 2.36 forgets to say so
#include <sys/pidfd.h>
}

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace retrystorm {
namespace {

constexpr char kBegin = 'b';
constexpr char kEnd = 'e';

// What a command that does not end by itself has to clean up.
constexpr int kGraceMs = 2000;

std::string_view name_of(char word) {
  return word == kBegin ? "--outage-begin" : "--outage-end";
}

}  // namespace

// The other process: one command at a time, and always ready to hear that the outage is to end.
class OutageCommand::Runner {
 public:
  Runner(const OutageCommands& commands, int words, int reports)
      : commands_(commands), words_(words), reports_(reports) {}

  // Until nobody tells anything any more, and all is ended that was begun.
  void run() {
    while (true) {
      std::array<pollfd, 2> both{{{words_, POLLIN, 0}, {descriptor_, POLLIN, 0}}};
      poll(both.data(), both.size(), -1);
      if (both[1].revents != 0) reap(Report::Fate::kEnded);
      if (both[0].revents == 0) continue;
      char word = 0;
      const bool told = read_word(words_, word);
      if (told && word == kBegin) {
        begin();
      } else {
        end();
      }
      if (told) continue;
      wait_for_command();
      return;
    }
  }

 private:
  void begin() {
    wait_for_command();  // the end of an outage before
    begun_ = true;
    start(kBegin, commands_.begin);
  }

  void end() {
    if (begun_ && descriptor_ >= 0) terminate();
    if (std::exchange(begun_, false) && !commands_.end.empty()) {
      start(kEnd, commands_.end);
    } else {
      report({.word = kEnd, .fate = Report::Fate::kEnded, .status = 0});
    }
  }

  void start(char word, const std::string& command) {
    word_ = word;
    command_ = fork();
    if (command_ == 0) exec(command);
    if (command_ > 0) {
      setpgid(command_, command_);  // as it does: whoever is first
      descriptor_ = pidfd_open(command_, 0);
    }
    if (command_ < 0) report({.word = word, .fate = Report::Fate::kNotStarted, .status = 0});
    if (command_ > 0 && descriptor_ < 0) reap(Report::Fate::kEnded);
  }

  [[noreturn]] void exec(const std::string& command) const {
    setpgid(0, 0);  // to be terminated with all that it starts
    for (const int number :
         {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE}) {
      std::signal(number, SIG_DFL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    // Standard output is for the clients' lines.
    dup2(STDERR_FILENO, STDOUT_FILENO);
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0) dup2(nothing, STDIN_FILENO);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }

  void terminate() {
    kill(-command_, SIGTERM);
    pollfd ended{descriptor_, POLLIN, 0};
    if (poll(&ended, 1, kGraceMs) == 0) kill(-command_, SIGKILL);
    reap(Report::Fate::kTerminated);
  }

  void wait_for_command() {
    if (descriptor_ >= 0) reap(Report::Fate::kEnded);
  }

  // Waits for the command's end, if need be.
  void reap(Report::Fate fate) {
    int status = 0;
    while (waitpid(command_, &status, 0) < 0 && errno == EINTR) {
    }
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
    report({.word = word_, .fate = fate, .status = status});
  }

  void report(const Report& report) const {
    // Nobody may be there to read it.
    [[maybe_unused]] const auto written = write(reports_, &report, sizeof(report));
  }

  const OutageCommands& commands_;
  const int words_, reports_;
  bool begun_ = false;
  // The command that runs:
  char word_ = 0;
  pid_t command_ = -1;
  int descriptor_ = -1;  // becomes readable at its end; -1: none runs
};

OutageCommand::OutageCommand(const OutageCommands& commands) {
  const std::array<int, 2> pipe = make_pipe();
  reports_ = pipe[0];
  try {
    watchdog_.emplace([&](int words) {
      close(pipe[0]);
      std::signal(SIGPIPE, SIG_IGN);
      Runner(commands, words, pipe[1]).run();
    });
  } catch (...) {
    close(pipe[0]);
    close(pipe[1]);
    throw;
  }
  close(pipe[1]);
}

OutageCommand::~OutageCommand() {
  watchdog_.reset();
  close(reports_);
}

void OutageCommand::begin() {
  tell(kBegin);
}

void OutageCommand::end() {
  tell(kEnd);
}

void OutageCommand::tell(char word) {
  if (!watchdog_->tell(word)) {
    throw std::runtime_error("the process that runs the outage's commands is gone");
  }
  ++under_way_;
}

std::vector<std::string> OutageCommand::take_news(Duration patience) {
  std::vector<std::string> news;
  const TimePoint until = saturating_add(Clock::now(), patience);
  while (under_way_ > 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    pollfd reports{reports_, POLLIN, 0};
    if (poll(&reports, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0) <= 0) break;
    Report report{};
    if (read(reports_, &report, sizeof(report)) != sizeof(report)) break;
    take(report, news);
  }
  return news;
}

void OutageCommand::take(const Report& report, std::vector<std::string>& news) {
  --under_way_;
  const std::string command = "the command of " + std::string(name_of(report.word));
  if (report.fate == Report::Fate::kNotStarted) {
    news.push_back(command + " could not be started: there are no more processes");
  } else if (report.fate == Report::Fate::kTerminated) {
    news.push_back(command + " had not ended when the outage was to end, and was terminated");
  } else if (WIFSIGNALED(report.status)) {
    news.push_back(command + " was ended by signal " + std::to_string(WTERMSIG(report.status)));
  } else if (WEXITSTATUS(report.status) != 0) {
    news.push_back(command + " failed: exit code " + std::to_string(WEXITSTATUS(report.status)));
  } else {
    return;
  }
  ++failures_;
}

}  // namespace retrystorm
