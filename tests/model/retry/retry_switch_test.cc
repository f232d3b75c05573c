#include "model/retry/process_parts.h"
#include "model/retry/retry_policy.h"
#include "tests/support/retry_parts.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using test::kOk;
using test::kStart;
using test::kTimeout;
using test::settings_of;

class RetrySwitchTest : public ::testing::Test {
 protected:
  // In each of these seconds, counted from the start: so many attempts end, so many of them failed.
  void seconds(int from, int to, int ended, int failed) {
    for (int s = from; s < to; ++s) {
      for (int i = 0; i < ended; ++i) switch_.attempt_ended(at(s) + 500ms, i < failed);
    }
  }
  bool lets_retry(int second) { return switch_.lets_retry(at(second)); }
  static TimePoint at(int second) { return kStart + std::chrono::seconds(second); }

  RetrySwitch switch_{settings_of<RetrySwitchSettings>("retry-switch = 20%"), kStart};
};

TEST_F(RetrySwitchTest, IsOffAfterThirtySecondsOfMoreThanAFifth) {
  seconds(0, 30, 10, 3);
  EXPECT_TRUE(lets_retry(29));
  EXPECT_FALSE(lets_retry(30));
}

TEST_F(RetrySwitchTest, AFifthIsNotMoreThanAFifth) {
  seconds(0, 100, 10, 2);
  EXPECT_TRUE(lets_retry(100));
}

TEST_F(RetrySwitchTest, OneGoodSecondBeginsTheCountAnew) {
  seconds(0, 29, 10, 10);
  seconds(29, 30, 10, 0);
  seconds(30, 60, 10, 10);
  EXPECT_TRUE(switch_.lets_retry(at(60) - 1ns));
  EXPECT_FALSE(lets_retry(60));
}

TEST_F(RetrySwitchTest, IsOnAgainAfterThirtyGoodSeconds) {
  seconds(0, 40, 10, 10);
  seconds(40, 70, 10, 0);
  EXPECT_FALSE(switch_.lets_retry(at(70) - 1ns));
  EXPECT_TRUE(lets_retry(70));
}

TEST_F(RetrySwitchTest, ASecondWithoutAttemptsChangesNothing) {
  seconds(0, 10, 1, 1);
  seconds(29, 30, 1, 1);
  EXPECT_FALSE(lets_retry(30));
  seconds(90, 91, 1, 0);
  EXPECT_FALSE(lets_retry(200));  // one good second
  seconds(200, 201, 1, 0);
  EXPECT_TRUE(lets_retry(201));
}

// Waits of 100 ms: failures are retried for 30 s.
TEST(RetrySwitch, RefusesRetriesOfAPolicy) {
  RetrySettings settings;
  settings.process.retry_switch.share = 0.2;
  for (const auto when : {WhenRefused::kGiveUp, WhenRefused::kBackOff}) {
    settings.when_refused = when;
    const RetryPolicy policy(settings);
    ASSERT_TRUE(policy.has_process());
    const auto process = policy.make_process(kStart);
    ScriptedRandom random{};
    RetryMetrics metrics;
    RetryState state;
    const auto fail = [&](TimePoint now) {
      policy.begin_request(state, 0s);
      policy.may_send(now, state, process.get(), random);
      return policy.after(now, kTimeout, state, process.get(), random, metrics);
    };
    EXPECT_TRUE(fail(kStart).retry);
    EXPECT_TRUE(fail(kStart + 29s).retry);
    const Decision denied = fail(kStart + 30s);
    EXPECT_EQ(denied.gave_up, GiveUp::kGate);
    EXPECT_EQ(denied.wait, when == WhenRefused::kBackOff ? 100ms : 0ms);
  }
}

}  // namespace
}  // namespace retrystorm
