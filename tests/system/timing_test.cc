// How long things take. Uses medians: a single value depends too much on the machine.
#include "common/http/http_attempt.h"
#include "common/http/http_client.h"
#include "common/os/process.h"
#include "tests/support/child_process.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

Duration median(int times, const std::function<void()>& action) {
  std::vector<Duration> durations;
  for (int i = 0; i < times; ++i) {
    const TimePoint start = Clock::now();
    action();
    durations.push_back(Clock::now() - start);
  }
  std::sort(durations.begin(), durations.end());
  return durations.at(durations.size() / 2);
}

// An attempt that times out lasts for its timeout plus some milliseconds.
void expect_ends_at_its_deadline(const std::string& url) {
  std::signal(SIGPIPE, SIG_IGN);
  const HttpRequest request{.url = resolve_url(url)};
  HttpAttempt attempt(request);
  const Duration lasted =
      median(15, [&] { EXPECT_EQ(attempt.run(100ms).outcome, Outcome::kTimedOut); });
  EXPECT_GE(lasted, 100ms);
  EXPECT_LT(lasted, 100ms + 50ms * kSlowness);
}

TEST(Deadline, IsKept) {
  const Listener silent;
  expect_ends_at_its_deadline(silent.url());
  const FakeServer drips(drip);
  expect_ends_at_its_deadline(drips.url());
  const FullListener full;  // connecting hangs
  expect_ends_at_its_deadline(full.url());
}

TEST(Latency, IsTheDelayAndLittleMore) {
  const ServerUnderTest server({"--base-delay", "50ms"});
  const Duration lasted =
      median(15, [&] { EXPECT_THAT(get(server.port(), kPatience), HasStatus(200)); });
  EXPECT_GE(lasted, 50ms);
  EXPECT_LT(lasted, 50ms + 25ms * kSlowness);
}

TEST(Latency, IsNotThatOfAHundredSilentConnections) {
  const ServerUnderTest server({"--base-delay", "0s"});
  // Each of these blocks a thread of the server until the read timeout of one second.
  std::vector<Socket> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(connect_to(server.port()));
  const TimePoint start = Clock::now();
  EXPECT_THAT(get(server.port(), kPatience), HasStatus(200));
  EXPECT_LT(Clock::now() - start, 1s * kSlowness);
  for (const Socket& socket : silent) EXPECT_TRUE(socket.closed_by_peer(kPatience));
}

TEST(Latency, IsNoneForThoseTurnedAway) {
  const ServerUnderTest server({"--base-delay", "1s", "--shed-above", "1"});
  const Socket parked = connect_to(server.port());
  const TimePoint start = Clock::now();
  EXPECT_THAT(get(server.port(), kPatience), HasStatus(503));
  EXPECT_LT(Clock::now() - start, 900ms);
}

// Three times as long as a start, whatever the machine: the work is little, and nothing waits.
TEST(Simulate, TakesTheTimeOfItsWork) {
  if (kSlowness > 1) GTEST_SKIP() << "a sanitizer slows the work more than the start";
  const auto run = [](const std::string& arguments) {
    return median(15, [&] {
      EXPECT_EQ(std::system((RETRYSTORM_SIMULATE " " + arguments + " > /dev/null").c_str()), 0);
    });
  };
  // Measures both again until the machine is not busy with other work.
  EXPECT_TRUE(eventually([&] {
    return run("--clients 10 --outage-for 1s --observe 1s --seed 1") < 3 * run("--help");
  }));
}

// The server ends within a second, however many connections are parked in it.

constexpr Duration kLongestEnd = 1s * kSlowness;

class Shutdown : public testing::Test {
 protected:
  bool parked(int count) {
    const std::string text = "\"concurrency\":" + std::to_string(count) + ",";
    return eventually([&] { return read_file(json_path()).find(text) != std::string::npos; });
  }

  void expect_ends_well(int signal) {
    server_.signal(signal);
    ASSERT_EQ(server_.exit_code(kLongestEnd), 0) << server_.err();
    EXPECT_EQ(read_json_lines(json_path()).front()["type"], "start");
  }

  std::string json_path() const { return dir_.file("server.jsonl"); }

  TempDir dir_;
  ServerUnderTest server_{{"--base-delay", "1h", "--backlog", "4096", "--report-interval", "50ms",
                           "--json", json_path()}};
};

TEST_F(Shutdown, WhileIdle) {
  expect_ends_well(SIGINT);
}

TEST_F(Shutdown, WithThousandsParked) {
  // As many connections as both sides have descriptors for.
  const int count = static_cast<int>(std::min<std::size_t>(raise_descriptor_limit(), 20'064)) - 164;
  std::vector<Socket> parked_ones;
  for (int i = 0; i < count; ++i) {
    parked_ones.push_back(connect_to(server_.port()));
    // Half of them have sent their request.
    if (i % 2 == 0) parked_ones.back().send("GET /api HTTP/1.1\r\n\r\n");
  }
  ASSERT_TRUE(parked(count));
  expect_ends_well(SIGTERM);
}

TEST_F(Shutdown, WithMoreThanItTakesIn) {
  ServerUnderTest full({"--base-delay", "1h", "--max-connections", "10"});
  std::vector<Socket> waiting;
  for (int i = 0; i < 100; ++i) waiting.push_back(connect_to(full.port()));
  full.signal(SIGTERM);
  EXPECT_EQ(full.exit_code(kLongestEnd), 0);
}

}  // namespace
}  // namespace retrystorm::test
