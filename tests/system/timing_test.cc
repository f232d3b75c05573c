// How long things take. Uses medians: a single value depends too much on the machine.
#include "common/http/http_attempt.h"
#include "common/http/http_client.h"
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

TEST(Deadline, IsKeptWhenTheServerIsSilent) {
  const Listener silent;
  expect_ends_at_its_deadline(silent.url());
}

TEST(Deadline, IsKeptWhenTheAnswerDrips) {
  const FakeServer server(drip);
  expect_ends_at_its_deadline(server.url());
}

TEST(Deadline, IsKeptWhenConnectingHangs) {
  const FullListener full;
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
}

TEST(Latency, IsNotThatOfAFewSilentConnectionsBefore) {
  const ServerUnderTest server({"--base-delay", "0s"});
  const Duration lasted = median(3, [&] {
    std::vector<Socket> silent;
    for (int i = 0; i < 8; ++i) silent.push_back(connect_to(server.port()));
    // Long enough for the server to accept all of them, and shorter than the read timeout.
    std::this_thread::sleep_for(50ms);
    EXPECT_THAT(get(server.port(), kPatience), HasStatus(200));
  });
  EXPECT_LT(lasted, 500ms * kSlowness);
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

}  // namespace
}  // namespace retrystorm::test
