// Standard output that nobody reads, that nobody can read any more, and that cannot be written.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include "tests/support/child_process.h"
#include "tests/support/sockets.h"

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// As promised; a busy machine may take longer.
constexpr Duration kEnd = 1s * kSlowness;

// A pipe that holds a page.
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

  // For the child, before it becomes the program.
  std::function<void()> as_standard_output(bool error_too = false) const {
    return [this, error_too] {
      dup2(ends_[1], STDOUT_FILENO);
      if (error_too) dup2(ends_[1], STDERR_FILENO);
    };
  }

  // Whoever writes without end is stuck: what is there grows no more.
  bool full() const {
    int before = 0, same = 0;
    return eventually([&] {
      int there = 0;
      ioctl(ends_[1], FIONREAD, &there);
      same = there == before ? same + 1 : 0;
      before = there;
      return there > 0 && same >= 20;
    });
  }

  // All until the writers have gone: this one too.
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
  return {"--url",     url,  "--clients", "300", "--lambda",          "10ms",
          "--timeout", "5m", "--seed",    "1",   "--report-interval", "1ms"};
}

// Thousands, and little work for each.
const Arguments kManyLines{"--clients", "10",  "--outage-at",       "10s",   "--outage-for", "10s",
                           "--observe", "12m", "--report-interval", "100ms", "--seed",       "1"};

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

// Where a real program's lines would be too late, a simulation can wait for its reader.
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

TEST(BlockedOutput, DoesNotHoldUpTheEndOfASimulation) {
  const Pipe pipe;
  ChildProcess simulate(RETRYSTORM_SIMULATE, kManyLines, 0, pipe.as_standard_output());
  ASSERT_TRUE(pipe.full());
  simulate.signal(SIGINT);
  ASSERT_EQ(simulate.exit_code(kEnd), 0) << simulate.err();
  EXPECT_THAT(simulate.err(), HasSubstr("standard output was blocked: "));
}

// With `| head`.
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
  campaign.insert(campaign.end(), {"--sweep", "base-delay=1ms:9s:1ms", "--observe", "1m"});
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
  EXPECT_EQ(server.exit_code(0s), std::nullopt);  // it goes on
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
  ChildProcess client(RETRYSTORM_CLIENT, {"--print-schedule", "3"}, 0, as_standard_output());
  expect_tells(client);
}

TEST_F(FullDisk, IsToldByASimulation) {
  ChildProcess simulate(RETRYSTORM_SIMULATE, kManyLines, 0, as_standard_output());
  expect_tells(simulate);
}

// What is opened later must not get the lines.
TEST(MissingOutput, GoesNowhere) {
  ChildProcess server(RETRYSTORM_SERVER, server_that_reports(), 0, [] { close(STDOUT_FILENO); });
  ASSERT_TRUE(server.says("writing to standard output failed: Bad file descriptor"));
  server.signal(SIGTERM);
  EXPECT_EQ(server.exit_code(), 1);
}

}  // namespace
}  // namespace retrystorm::test
