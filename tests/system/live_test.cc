// The screen that is redrawn, on a separate terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "tests/support/child_process.h"
#include "tests/support/sockets.h"

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// A program on a pseudo terminal.
class OnTerminal {
 public:
  explicit OnTerminal(Arguments command, Arguments environment = {}) {
    std::vector<char*> words;
    for (std::string& word : command) words.push_back(word.data());
    words.push_back(nullptr);
    const winsize size{.ws_row = 20, .ws_col = 70, .ws_xpixel = 0, .ws_ypixel = 0};
    pid_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ != 0) return;
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    for (std::string& setting : environment) putenv(setting.data());
    execv(words[0], words.data());
    _exit(127);
  }

  ~OnTerminal() {
    if (pid_ > 0) kill(pid_, SIGKILL);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
    close(terminal_);
  }

  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

  // Reads until `text` has been shown, at position `from` or later, or the program has ended.
  bool shows(const std::string& text, std::size_t from = 0) {
    return eventually([&] {
      std::array<char, 4096> part{};
      timeval moment{.tv_sec = 0, .tv_usec = 10'000};
      fd_set set;
      FD_ZERO(&set);
      FD_SET(terminal_, &set);
      if (select(terminal_ + 1, &set, nullptr, nullptr, &moment) > 0) {
        const ssize_t size = read(terminal_, part.data(), part.size());
        if (size > 0) shown_.append(part.data(), static_cast<std::size_t>(size));
      }
      return shown_.find(text, from) != std::string::npos;
    });
  }

  void type(const std::string& keys) {
    ASSERT_EQ(write(terminal_, keys.data(), keys.size()), keys.size());
  }

  void end(int signal) const { kill(pid_, signal); }

  const std::string& shown() const { return shown_; }

  // The exit code, or 128 + the signal that ended the program; std::nullopt if it is still running.
  std::optional<int> exit_code_within(Duration within) {
    int status = 0;
    if (!eventually([&] { return waitpid(pid_, &status, WNOHANG) == pid_; }, within)) return {};
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  int exit_code() {
    int status = 0;
    waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  int terminal_ = -1;
  pid_t pid_ = -1;
  std::string shown_;
};

const std::string kTaken = "\033[?1049h\033[?25l";
const std::string kGivenBack = "\033[?25h\033[?1049l";
const std::string kCtrlC = "\003";

TEST(Live, ServerGivesTheTerminalBackOnCtrlC) {
  OnTerminal server({RETRYSTORM_SERVER, "--port", "0", "--admin-port", "0", "--live",
                     "--report-interval", "50ms"});
  ASSERT_TRUE(server.shows("completed")) << server.shown();
  EXPECT_THAT(server.shown(), HasSubstr(kTaken));
  EXPECT_THAT(server.shown(), HasSubstr("\033[1mretrystorm server, port "));
  EXPECT_THAT(server.shown(), Not(HasSubstr("last delay:")));
  server.type(kCtrlC);
  EXPECT_TRUE(server.shows(kGivenBack)) << server.shown();
  EXPECT_EQ(server.exit_code(), 0);
}

TEST(Live, ClientEndsWithTheSummaryOnTheOrdinaryScreen) {
  const ServerUnderTest server({"--base-delay", "1ms"});
  OnTerminal client({RETRYSTORM_CLIENT, "--url", server.url(), "--live", "--clients", "10",
                     "--lambda", "10ms", "--report-interval", "100ms", "--duration", "1s"});
  ASSERT_TRUE(client.shows("verdict:   no outage")) << client.shown();
  const std::string& shown = client.shown();
  const std::size_t taken = shown.find(kTaken), given_back = shown.find(kGivenBack);
  ASSERT_NE(taken, std::string::npos);
  ASSERT_NE(given_back, std::string::npos);
  EXPECT_THAT(shown.substr(taken, given_back - taken), HasSubstr("█"));
  EXPECT_THAT(shown, Not(HasSubstr("req/sec")));
  EXPECT_LT(given_back, shown.find("requests:  "));
  EXPECT_EQ(client.exit_code(), 0);
}

// The outage is over, and then nothing is answered any more. The baseline takes a window of 5 s.
TEST(Live, ClientSaysWhyTheServiceDoesNotComeBack) {
  const FakeServer status([](const Socket& socket) {
    socket.receive(kPatience, "\r\n\r\n");
    socket.send(
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
        R"({"concurrency":6862,"last_delay_s":1e9})");
  });
  const ServerUnderTest server({"--base-delay", "1ms"});
  OnTerminal client(
      {RETRYSTORM_CLIENT, "--url",       server.url(), "--server-pid", std::to_string(server.pid()),
       "--server-status", status.url(),  "--live",     "--clients",    "10",
       "--lambda",        "10ms",        "--timeout",  "300ms",        "--report-interval",
       "100ms",           "--outage-at", "5500ms",     "--outage-for", "500ms",
       "--duration",      "10m"});
  ASSERT_TRUE(client.shows("server awake")) << client.shown();
  kill(server.pid(), SIGSTOP);
  EXPECT_TRUE(client.shows("It is held down by its clients: 6,862 requests")) << client.shown();
  EXPECT_TRUE(client.shows("What may help: turn away above ")) << client.shown();
  kill(server.pid(), SIGCONT);
}

// As a user does it: in a shell with job control.
TEST(Live, GivesTheTerminalBackOnCtrlZ) {
  OnTerminal shell({"/bin/bash", "--norc", "--noprofile", "-i"}, {"PS1=$ ", "HISTFILE="});
  shell.type(std::string(RETRYSTORM_SERVER) +
             " --port 0 --admin-port 0 --live --report-interval 50ms\n");
  ASSERT_TRUE(shell.shows("completed")) << shell.shown();
  EXPECT_THAT(shell.shown(), Not(HasSubstr(kGivenBack)));
  shell.type("\032");
  ASSERT_TRUE(shell.shows("Stopped")) << shell.shown();
  const std::string before = shell.shown();
  EXPECT_LT(before.find(kGivenBack), before.find("Stopped"));
  shell.type("fg; echo ended with $?\n");
  // The terminal has been taken over again, and the screen drawn.
  ASSERT_TRUE(shell.shows("completed", before.size())) << shell.shown();
  const std::size_t taken = shell.shown().find(kTaken, before.size());
  ASSERT_NE(taken, std::string::npos);
  shell.type(kCtrlC);
  EXPECT_TRUE(shell.shows("ended with 0", taken)) << shell.shown();
  EXPECT_NE(shell.shown().find(kGivenBack, taken), std::string::npos);
}

// Ctrl-S stops the terminal, but not the program.
TEST(Live, EndsOnAStoppedTerminal) {
  OnTerminal server({RETRYSTORM_SERVER, "--port", "0", "--admin-port", "0", "--live",
                     "--report-interval", "1ms"});
  ASSERT_TRUE(server.shows("completed")) << server.shown();
  server.type("\023");
  server.end(SIGTERM);
  EXPECT_EQ(server.exit_code_within(1s * kSlowness), 0);
}

TEST(Live, HasNoColourWithNoColor) {
  OnTerminal server({RETRYSTORM_SERVER, "--port", "0", "--admin-port", "0", "--live",
                     "--report-interval", "50ms"},
                    {"NO_COLOR=1", "LC_ALL=C"});
  ASSERT_TRUE(server.shows("completed")) << server.shown();
  for (const char* colour : {"\033[1m", "\033[3", "█", "▁"}) {
    EXPECT_THAT(server.shown(), Not(HasSubstr(colour)));
  }
}

TEST(Live, NeedsATerminal) {
  ServerUnderTest server({"--live", "--report-interval", "50ms"});
  EXPECT_TRUE(server.says("--live: standard output is not a terminal that can be redrawn"));
  EXPECT_TRUE(eventually([&] { return server.out().find("last delay:") != std::string::npos; }));
  EXPECT_THAT(server.out(), Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace retrystorm::test
