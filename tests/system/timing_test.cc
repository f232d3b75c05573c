// What takes how long: medians, for a single value says more about the machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "client/http_attempt.h"
#include "tests/support/child_process.h"
#include "tests/support/sockets.h"

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;
using ::testing::StartsWith;

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

// An attempt that must be ended lasts its timeout and some milliseconds.
void expect_ends_at_its_deadline(const std::string& url) {
  std::signal(SIGPIPE, SIG_IGN);
  Deadlines deadlines;
  const HttpRequest request{.url = resolve_url(url)};
  HttpAttempt attempt(request, 100ms, deadlines);
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
      median(15, [&] { EXPECT_THAT(get(server.port(), kPatience), StartsWith("HTTP/1.1 200")); });
  EXPECT_GE(lasted, 50ms);
  EXPECT_LT(lasted, 50ms + 25ms * kSlowness);
}

TEST(Latency, IsNotThatOfAHundredSilentConnections) {
  const ServerUnderTest server({"--base-delay", "0s"});
  // Each of these holds a thread of the server until the read timeout, a second.
  std::vector<Socket> silent;
  for (int i = 0; i < 100; ++i) silent.push_back(connect_to(server.port()));
  const TimePoint start = Clock::now();
  EXPECT_THAT(get(server.port(), kPatience), StartsWith("HTTP/1.1 200"));
  EXPECT_LT(Clock::now() - start, 1s * kSlowness);
}

TEST(Latency, IsNotThatOfAFewSilentConnectionsBefore) {
  const ServerUnderTest server({"--base-delay", "0s"});
  const Duration lasted = median(3, [&] {
    std::vector<Socket> silent;
    for (int i = 0; i < 8; ++i) silent.push_back(connect_to(server.port()));
    // Long enough for them all to be taken up, and short of the read timeout.
    std::this_thread::sleep_for(50ms);
    EXPECT_THAT(get(server.port(), kPatience), StartsWith("HTTP/1.1 200"));
  });
  EXPECT_LT(lasted, 500ms * kSlowness);
}

TEST(Latency, IsNoneForThoseTurnedAway) {
  const ServerUnderTest server({"--base-delay", "1s", "--shed-above", "1"});
  const Socket parked = connect_to(server.port());
  const TimePoint start = Clock::now();
  EXPECT_THAT(get(server.port(), kPatience), StartsWith("HTTP/1.1 503"));
  EXPECT_LT(Clock::now() - start, 900ms);
}

// Beyond what it takes to start the program at all.
TEST(Simulate, TakesTheTimeOfItsWork) {
  const auto run = [](const std::string& arguments) {
    return median(15, [&] {
      EXPECT_EQ(std::system((RETRYSTORM_SIMULATE " " + arguments + " > /dev/null").c_str()), 0);
    });
  };
  // On a machine that does something else at times, both are measured until it leaves them alone.
  EXPECT_TRUE(eventually([&] {
    return run("--clients 10 --outage-for 1s --observe 1s --seed 1") <
           run("--help") + 10ms * kSlowness;
  }));
}

}  // namespace
}  // namespace retrystorm::test
