// Standard output and files that are not read, have no reader any more, cannot be written, are in
// use by another program, or are never opened by a reader.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support/child_process.h"
#include "tests/support/fifo.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

using ::testing::ContainsRegex;

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

struct Program {
  const char* program;
  Arguments arguments;
};

// Each writes a lot without end. `full`: what nobody can connect to.
std::vector<Program> endless_programs(const FullListener& full) {
  return {{RETRYSTORM_CLIENT, storm(full.url())},
          {RETRYSTORM_SERVER, server_that_reports()},
          {RETRYSTORM_SIMULATE, kManyLines}};
}

TEST(BlockedOutput, DoesNotHoldUpTheEnd) {
  const FullListener full;
  for (const bool error_too : {false, true}) {
    for (const auto& [program, arguments] : endless_programs(full)) {
      const Pipe pipe;
      ChildProcess process(program, arguments, 0, pipe.as_standard_output(error_too));
      ASSERT_TRUE(pipe.full()) << program;
      process.signal(program == std::string(RETRYSTORM_SIMULATE) ? SIGINT : SIGTERM);
      ASSERT_EQ(process.exit_code(kEnd), 0) << program << process.err();
      if (error_too) continue;
      EXPECT_THAT(process.err(),
                  ContainsRegex("standard output was blocked: [0-9]+ lines are lost\n"));
    }
  }
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

// A real program drops lines instead of being late, but a simulation can wait for its reader.
TEST(BlockedOutput, LosesNothingOfASimulation) {
  Pipe pipe;
  ChildProcess simulate(RETRYSTORM_SIMULATE, kManyLines, 0, pipe.as_standard_output());
  ASSERT_TRUE(pipe.full());
  const std::string read = pipe.read_to_the_end();
  EXPECT_EQ(simulate.exit_code(), 0);
  const Ended again = succeeded(RETRYSTORM_SIMULATE, kManyLines);
  EXPECT_EQ(read, again.out);
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

// Nor the lines of a server.
TEST(BlockedFile, DoesNotHoldUpTheEnd) {
  const FullListener full;
  for (const auto& [program, arguments] : endless_programs(full)) {
    const Fifo fifo;
    ChildProcess process(program, arguments + Arguments{"--json", fifo.path()});
    ASSERT_TRUE(fifo.full()) << program;
    if (program == std::string(RETRYSTORM_SERVER)) {
      const std::size_t before = process.out().size();
      EXPECT_TRUE(eventually([&] { return process.out().size() > before; }));
    }
    process.signal(program == std::string(RETRYSTORM_SIMULATE) ? SIGINT : SIGTERM);
    ASSERT_EQ(process.exit_code(kEndWithAFile), 0) << program << process.err();
    EXPECT_THAT(process.err(), ContainsRegex(lines_lost(fifo)));
  }
}

// The program waits for a FIFO without a reader. Signals end this wait.
TEST(UnreadFile, DoesNotKeepAProgramFromEnding) {
  const Fifo fifo(Fifo::Reader::kNone);
  const Arguments outage{"--outage=drop", "--outage-at=1s", "--outage-for=1s"};
  const Program cases[] = {
      {RETRYSTORM_CLIENT, {"--json", fifo.path()}},
      {RETRYSTORM_CLIENT, {"--body", "@" + fifo.path()}},
      {RETRYSTORM_CLIENT, {"--url=https://127.0.0.1/", "--cacert", fifo.path()}},
      {RETRYSTORM_CLIENT, outage + Arguments{"--admin-token-file", fifo.path()}},
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

// What went wrong is told at the very end, when the threads for signals have ended. The refused connection ends the
// run: a shorter one may be over before it is known.
TEST(BlockedError, DoesNotKeepAProgramFromEnding) {
  const Pipe pipe;
  pipe.fill();
  ChildProcess client(RETRYSTORM_CLIENT,
                      {"--url=http://127.0.0.1:9/api", "--duration=1m", "--seed=1", "--quiet"}, 0,
                      [&] { pipe.as_standard_output(true)(); });
  EXPECT_EQ(client.exit_code(2s * kSlowness), std::nullopt);
  client.signal(SIGTERM);
  EXPECT_EQ(client.exit_code(kEnd), 128 + SIGTERM);
}

// Standard output whose reader has ended, as with `| head`.
TEST(ClosedOutput, EndsAProgram) {
  const FullListener full;
  auto programs = endless_programs(full);
  programs.push_back(
      {RETRYSTORM_SIMULATE,
       kManyLines + Arguments{"--sweep", "base-delay=1ms:300ms:1ms", "--observe", "1m"}});
  for (const auto& [program, arguments] : programs) {
    Pipe pipe;
    ChildProcess child(program, arguments, 0, pipe.as_standard_output());
    ASSERT_TRUE(pipe.full()) << program;
    pipe.close_reader();
    EXPECT_EQ(child.exit_code(kEnd), 128 + SIGPIPE) << program;
    EXPECT_THAT(child.err(), AnyOf("", ContainsRegex("^listening on [^\n]*\n$")));
  }
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

// Also what is longer than a buffer, and help.
TEST_F(FullDisk, IsToldByEachProgram) {
  const FullListener full;
  for (const auto& [program, arguments] :
       {Program{RETRYSTORM_CLIENT, storm(full.url()) + Arguments{"--duration", "300ms"}},
        {RETRYSTORM_SIMULATE, kManyLines},
        {RETRYSTORM_SIMULATE, {"--print-settings"}},
        {RETRYSTORM_SERVER, {"--help"}},
        {RETRYSTORM_CLIENT, {"--version"}}}) {
    ChildProcess child(program, arguments, 0, as_standard_output());
    expect_tells(child);
  }
}

TEST_F(FullDisk, IsToldByAServer) {
  ChildProcess server(RETRYSTORM_SERVER, server_that_reports(), 0, as_standard_output());
  ASSERT_TRUE(server.says("writing to standard output failed"));
  EXPECT_EQ(server.exit_code(0s), std::nullopt);  // it is still running
  server.signal(SIGTERM);
  expect_tells(server);
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
