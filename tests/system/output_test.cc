// Standard output and files that are not read, have no reader any more, cannot be written, are in
// use by another program, or are never opened by a reader.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/support/child_process.h"
#include "tests/support/fifo.h"
#include "tests/support/sockets.h"

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// The documented time to end.
constexpr Duration kEnd = 1s * kEndSlowness;

// A pipe that holds one page.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    fcntl(ends_[1], F_SETPIPE_SZ, 4096);
  }
  ~Pipe() {
    close_reader();
    close(ends_[1]);
  }

  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void close_reader() {
    if (ends_[0] >= 0) close(ends_[0]);
    ends_[0] = -1;
  }

  // For the child process, before it executes the program.
  std::function<void()> as_standard_output(bool error_too = false) const {
    return [this, error_too] {
      dup2(ends_[1], STDOUT_FILENO);
      if (error_too) dup2(ends_[1], STDERR_FILENO);
    };
  }

  bool full() const { return is_full(ends_[1]); }

  void fill() const {
    fcntl(ends_[1], F_SETFL, O_NONBLOCK);
    while (write(ends_[1], "text\n", 5) > 0) {
    }
    fcntl(ends_[1], F_SETFL, 0);
  }

  // Closes this object's end and reads everything until all writers have closed theirs.
  std::string read_to_the_end() {
    close(ends_[1]);
    ends_[1] = -1;
    std::string text;
    std::array<char, 512> part{};
    ssize_t size = 0;
    while ((size = read(ends_[0], part.data(), part.size())) > 0) {
      text.append(part.data(), static_cast<std::size_t>(size));
    }
    return text;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

Arguments storm(const std::string& url) {
  return {"--url",  url, "--clients",         "300", "--lambda", "10ms", "--timeout", "5m",
          "--seed", "1", "--report-interval", "1ms", "--quiet"};
}

// Thousands of lines, with little work per line.
const Arguments kManyLines{"--clients", "10", "--outage-at",       "10s",   "--outage-for", "10s",
                           "--observe", "6m", "--report-interval", "100ms", "--seed",       "1",
                           "--quiet"};

Arguments server_that_reports() {
  return {"--port", "0", "--admin-port", "0", "--report-interval", "1ms"};
}

TEST(BlockedOutput, DoesNotHoldUpTheEndOfAClientInAStorm) {
  const FullListener full;
  const Pipe pipe;
  ChildProcess client(RETRYSTORM_CLIENT, storm(full.url()), 0, pipe.as_standard_output());
  ASSERT_TRUE(pipe.full());
  client.signal(SIGTERM);
  ASSERT_EQ(client.exit_code(kEnd), 0) << client.err();
  EXPECT_THAT(client.err(), ContainsRegex("standard output was blocked: [0-9]+ lines are lost\n"));
}

TEST(BlockedOutput, DoesNotHoldUpTheEndWithStandardErrorBlockedToo) {
  const FullListener full;
  const Pipe pipe;
  ChildProcess client(RETRYSTORM_CLIENT, storm(full.url()), 0, pipe.as_standard_output(true));
  ASSERT_TRUE(pipe.full());
  client.signal(SIGINT);
  EXPECT_EQ(client.exit_code(kEnd), 0);
}

TEST(BlockedOutput, DoesNotHoldUpTheEndOfAnOutage) {
  const ServerUnderTest server({"--base-delay", "1ms"});
  const TempDir dir;
  const Pipe pipe;
  Arguments arguments = storm(server.url());
  arguments.insert(arguments.end(),
                   {"--server-pid", std::to_string(server.pid()), "--outage-at", "500ms",
                    "--outage-for", "500ms", "--clients", "10", "--json", dir.file("json")});
  ChildProcess client(RETRYSTORM_CLIENT, arguments, 0, pipe.as_standard_output(true));
  ASSERT_TRUE(pipe.full());
  const auto has = [&](const char* event) {
    return eventually([&] { return read_file(dir.file("json")).find(event) != std::string::npos; });
  };
  EXPECT_TRUE(has("\"stop\""));
  EXPECT_TRUE(has("\"continue\""));
  EXPECT_TRUE(eventually([&] { return server.state() != 'T'; }));
}

TEST(BlockedOutput, DoesNotHoldUpTheEndOfAServer) {
  const Pipe pipe;
  ChildProcess server(RETRYSTORM_SERVER, server_that_reports(), 0, pipe.as_standard_output());
  ASSERT_TRUE(pipe.full());
  server.signal(SIGTERM);
  ASSERT_EQ(server.exit_code(kEnd), 0) << server.err();
  EXPECT_THAT(server.err(), ContainsRegex("standard output was blocked: [0-9]+ lines are lost\n"));
}

// A real program drops lines instead of being late, but a simulation can wait for its reader.
TEST(BlockedOutput, LosesNothingOfASimulation) {
  Pipe pipe;
  ChildProcess simulate(RETRYSTORM_SIMULATE, kManyLines, 0, pipe.as_standard_output());
  ASSERT_TRUE(pipe.full());
  const std::string read = pipe.read_to_the_end();
  EXPECT_EQ(simulate.exit_code(), 0);
  ChildProcess again(RETRYSTORM_SIMULATE, kManyLines);
  ASSERT_EQ(again.exit_code(), 0);
  EXPECT_EQ(read, again.out());
  EXPECT_EQ(simulate.err(), "");
}

// A terminal shows the table on standard output between the lines of standard error.
TEST(StandardStreams, AreInOrderInATerminal) {
  for (int i = 0; i < 5; ++i) {
    Pipe pipe;
    ChildProcess simulate(RETRYSTORM_SIMULATE,
                          {"--sweep=strategy=fixed,none", "--runs=2", "--clients=2000", "--seed=1"},
                          0, pipe.as_standard_output(true));
    const std::string text = pipe.read_to_the_end();
    EXPECT_EQ(simulate.exit_code(), 0);
    const std::size_t title = text.find("2 rows of 2 runs"), table = text.find("\nstrategy "),
                      tried = text.find(" runs with --backlog=");
    EXPECT_TRUE(title < table && table < tried && tried != text.npos) << text;
  }
}

TEST(BlockedOutput, DoesNotHoldUpTheEndOfASimulation) {
  const Pipe pipe;
  ChildProcess simulate(RETRYSTORM_SIMULATE, kManyLines, 0, pipe.as_standard_output());
  ASSERT_TRUE(pipe.full());
  simulate.signal(SIGINT);
  ASSERT_EQ(simulate.exit_code(kEnd), 0) << simulate.err();
  EXPECT_THAT(simulate.err(), HasSubstr("standard output was blocked: "));
}

// A program waits up to a second for a file at its end.
constexpr Duration kEndWithAFile = 2s * kEndSlowness;

std::string lines_lost(const Fifo& fifo) {
  return fifo.path() + " was blocked: [0-9]+ lines are lost\n";
}

TEST(BlockedFile, HoldsUpNeitherTheOutageNorTheEndOfAClient) {
  const ServerUnderTest server({"--base-delay", "1ms"});
  const Fifo fifo;
  Arguments arguments = storm(server.url());
  arguments.insert(arguments.end(), {"--server-pid", std::to_string(server.pid()), "--outage-at",
                                     "1s", "--outage-for", "500ms", "--duration", "2s", "--clients",
                                     "10", "--json", fifo.path()});
  ChildProcess client(RETRYSTORM_CLIENT, arguments);
  ASSERT_TRUE(fifo.full());
  EXPECT_TRUE(eventually([&] { return server.state() == 'T'; }));
  EXPECT_TRUE(client.says("server awake"));
  EXPECT_TRUE(eventually([&] { return server.state() != 'T'; }));
  ASSERT_EQ(client.exit_code(2s + kEndWithAFile), 0) << client.err();
  EXPECT_THAT(client.err(), ContainsRegex(lines_lost(fifo)));
}

TEST(BlockedFile, DoesNotHoldUpTheEndOfAClientThatIsToldToEnd) {
  const FullListener full;
  const Fifo fifo;
  Arguments arguments = storm(full.url());
  arguments.insert(arguments.end(), {"--json", fifo.path()});
  ChildProcess client(RETRYSTORM_CLIENT, arguments);
  ASSERT_TRUE(fifo.full());
  client.signal(SIGTERM);
  ASSERT_EQ(client.exit_code(kEndWithAFile), 0) << client.err();
  EXPECT_THAT(client.err(), ContainsRegex(lines_lost(fifo)));
}

TEST(BlockedFile, HoldsUpNeitherTheLinesNorTheEndOfAServer) {
  const Fifo fifo;
  Arguments arguments = server_that_reports();
  arguments.insert(arguments.end(), {"--json", fifo.path()});
  ChildProcess server(RETRYSTORM_SERVER, arguments);
  ASSERT_TRUE(fifo.full());
  const std::size_t before = server.out().size();
  EXPECT_TRUE(eventually([&] { return server.out().size() > before; }));
  server.signal(SIGTERM);
  ASSERT_EQ(server.exit_code(kEndWithAFile), 0) << server.err();
  EXPECT_THAT(server.err(), ContainsRegex(lines_lost(fifo)));
}

TEST(BlockedFile, DoesNotHoldUpTheEndOfASimulation) {
  const Fifo fifo;
  Arguments arguments = kManyLines;
  arguments.insert(arguments.end(), {"--json", fifo.path()});
  ChildProcess simulate(RETRYSTORM_SIMULATE, arguments);
  ASSERT_TRUE(fifo.full());
  simulate.signal(SIGINT);
  ASSERT_EQ(simulate.exit_code(kEndWithAFile), 0) << simulate.err();
  EXPECT_THAT(simulate.err(), ContainsRegex(lines_lost(fifo)));
}

// The program waits for a FIFO without a reader. Signals end this wait.
TEST(UnreadFile, DoesNotKeepAProgramFromEnding) {
  const Fifo fifo(Fifo::Reader::kNone);
  const Arguments outage{"--outage=drop", "--outage-at=1s", "--outage-for=1s"};
  const auto with = [](Arguments all, const Arguments& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::pair<const char*, Arguments> cases[] = {
      {RETRYSTORM_CLIENT, {"--json", fifo.path()}},
      {RETRYSTORM_CLIENT, {"--body", "@" + fifo.path()}},
      {RETRYSTORM_CLIENT, {"--url=https://127.0.0.1/", "--cacert", fifo.path()}},
      {RETRYSTORM_CLIENT, with(outage, {"--admin-token-file", fifo.path()})},
      {RETRYSTORM_CLIENT, {"--config", fifo.path()}},
      {RETRYSTORM_SERVER, {"--port=0", "--admin-port=0", "--json", fifo.path()}},
      {RETRYSTORM_SIMULATE, {"--json", fifo.path()}},
  };
  for (const auto& [program, arguments] : cases) {
    ChildProcess child(program, arguments);
    int asleep = 0;
    ASSERT_TRUE(eventually([&] {
      asleep = child.state() == 'S' ? asleep + 1 : 0;
      return asleep >= 20;
    })) << arguments[0];
    child.signal(SIGTERM);
    EXPECT_EQ(child.exit_code(kEnd), 128 + SIGTERM) << arguments[0];
    EXPECT_EQ(child.err(), "") << arguments[0];
  }
}

// What went wrong is told at the very end, when the threads for signals have ended.
TEST(BlockedError, DoesNotKeepAProgramFromEnding) {
  const Pipe pipe;
  pipe.fill();
  ChildProcess client(RETRYSTORM_CLIENT,
                      {"--url=http://127.0.0.1:9/api", "--duration=100ms", "--seed=1", "--quiet"},
                      0, [&] { pipe.as_standard_output(true)(); });
  EXPECT_EQ(client.exit_code(2s * kSlowness), std::nullopt);
  client.signal(SIGTERM);
  EXPECT_EQ(client.exit_code(kEnd), 128 + SIGTERM);
}

TEST(SharedFile, IsRefusedToTheSecondProgram) {
  const TempDir dir;
  const ServerUnderTest server({"--json", dir.file("json")});
  for (const char* program : {RETRYSTORM_CLIENT, RETRYSTORM_SERVER, RETRYSTORM_SIMULATE}) {
    Arguments arguments{"--json", dir.file("json")};
    if (program == std::string(RETRYSTORM_SERVER)) arguments.push_back("--port=0");
    ChildProcess second(program, arguments);
    EXPECT_EQ(second.exit_code(), 1);
    EXPECT_EQ(second.err(), "cannot write to " + dir.file("json") +
                                ": it is being written already, perhaps by another run\n");
  }
  EXPECT_EQ(read_json_lines(dir.file("json")).front()["program"], "server");
}

// Standard output whose reader has ended, as with `| head`.
class ClosedOutput : public testing::Test {
 protected:
  static void expect_ends_quietly(const std::string& program, const Arguments& arguments) {
    Pipe pipe;
    ChildProcess child(program, arguments, 0, pipe.as_standard_output());
    ASSERT_TRUE(pipe.full());
    pipe.close_reader();
    EXPECT_EQ(child.exit_code(kEnd), 128 + SIGPIPE);
    EXPECT_THAT(child.err(), AnyOf("", ContainsRegex("^listening on [^\n]*\n$")));
  }
};

TEST_F(ClosedOutput, EndsAServer) {
  expect_ends_quietly(RETRYSTORM_SERVER, server_that_reports());
}

TEST_F(ClosedOutput, EndsAClient) {
  const FullListener full;
  expect_ends_quietly(RETRYSTORM_CLIENT, storm(full.url()));
}

TEST_F(ClosedOutput, EndsASimulation) {
  expect_ends_quietly(RETRYSTORM_SIMULATE, kManyLines);
}

TEST_F(ClosedOutput, EndsACampaign) {
  Arguments campaign = kManyLines;
  campaign.insert(campaign.end(), {"--sweep", "base-delay=1ms:300ms:1ms", "--observe", "1m"});
  expect_ends_quietly(RETRYSTORM_SIMULATE, campaign);
}

class FullDisk : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  }

  static std::function<void()> as_standard_output() {
    return [] { dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO); };
  }

  static void expect_tells(ChildProcess& child) {
    EXPECT_EQ(child.exit_code(), 1);
    EXPECT_THAT(
        child.err(),
        HasSubstr("writing to standard output failed: No space left on device: it ends here\n"));
  }
};

TEST_F(FullDisk, IsToldByAServer) {
  ChildProcess server(RETRYSTORM_SERVER, server_that_reports(), 0, as_standard_output());
  ASSERT_TRUE(server.says("writing to standard output failed"));
  EXPECT_EQ(server.exit_code(0s), std::nullopt);  // it is still running
  server.signal(SIGTERM);
  expect_tells(server);
}

TEST_F(FullDisk, IsToldByAClient) {
  const FullListener full;
  Arguments arguments = storm(full.url());
  arguments.insert(arguments.end(), {"--duration", "300ms"});
  ChildProcess client(RETRYSTORM_CLIENT, arguments, 0, as_standard_output());
  expect_tells(client);
}

TEST_F(FullDisk, IsToldByASchedule) {
  ChildProcess schedule(RETRYSTORM_STUDIES, {"schedule", "--waits=3"}, 0, as_standard_output());
  expect_tells(schedule);
}

TEST_F(FullDisk, IsToldByASimulation) {
  ChildProcess simulate(RETRYSTORM_SIMULATE, kManyLines, 0, as_standard_output());
  expect_tells(simulate);
}

TEST_F(FullDisk, IsToldByWhatIsLongerThanABuffer) {
  ChildProcess settings(RETRYSTORM_SIMULATE, {"--print-settings"}, 0, as_standard_output());
  expect_tells(settings);
}

TEST_F(FullDisk, IsToldByTheHelp) {
  for (const char* program : {RETRYSTORM_SERVER, RETRYSTORM_STUDIES}) {
    ChildProcess help(program, {"--help"}, 0, as_standard_output());
    expect_tells(help);
  }
  ChildProcess version(RETRYSTORM_CLIENT, {"--version"}, 0, as_standard_output());
  expect_tells(version);
}

// The limit of `ulimit -f`. The system sends a signal that ends a program unless it is ignored.
TEST(LongestFile, IsToldLikeAFullDisk) {
  ChildProcess simulate(RETRYSTORM_SIMULATE, kManyLines, 0, [] {
    const rlimit limit{.rlim_cur = 4096, .rlim_max = 4096};
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(simulate.exit_code(), 1);
  EXPECT_EQ(simulate.out().size(), 4096);
  EXPECT_THAT(simulate.err(),
              HasSubstr("writing to standard output failed: File too large: it ends here\n"));
}

// A file that is opened later must not receive the lines.
TEST(MissingOutput, GoesNowhere) {
  ChildProcess server(RETRYSTORM_SERVER, server_that_reports(), 0, [] { close(STDOUT_FILENO); });
  ASSERT_TRUE(server.says("writing to standard output failed: Bad file descriptor"));
  server.signal(SIGTERM);
  EXPECT_EQ(server.exit_code(), 1);
}

}  // namespace
}  // namespace retrystorm::test
