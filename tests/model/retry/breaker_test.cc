#include "model/retry/breaker.h"

#include "tests/support/refusal.h"
#include "tests/support/retry_parts.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using State = Breaker::State;
using test::settings_of;

// A breaker, and attempts that take no time.
class BreakerTest : public ::testing::Test {
 protected:
  void make(std::string_view settings) {
    breaker_.emplace(settings_of<BreakerSettings>(settings), now_);
  }

  bool sends() {
    ScriptedRandom none{};
    const Permission permission = breaker_->ask(now_, none);
    EXPECT_NE(permission.kind, Permission::Kind::kWait);
    return permission.kind == Permission::Kind::kSend;
  }
  void end(int times, const AttemptResult& result) {
    for (int i = 0; i < times; ++i) breaker_->attempt_ended(now_, result);
  }
  void fail(int times = 1) { end(times, timed_out(0s)); }
  void succeed(int times = 1) { end(times, {}); }
  State state() const { return breaker_->state(); }

  void open_and_half_open() {
    fail(100);
    ASSERT_EQ(state(), State::kOpen);
    now_ += 60s + 1ns;
    ASSERT_TRUE(sends());
    ASSERT_EQ(state(), State::kHalfOpen);
  }

  TimePoint now_{1h};
  std::optional<Breaker> breaker_;
};

TEST_F(BreakerTest, OpensAtTheHundredthEndWithHalfOfThemFailed) {
  make("breaker = resilience4j");
  fail(50);
  succeed(49);
  EXPECT_EQ(state(), State::kClosed);
  succeed();
  EXPECT_EQ(state(), State::kOpen) << "though that one was a success";
  EXPECT_FALSE(sends());
}

TEST_F(BreakerTest, StaysClosedBelowHalfAndForgetsTheOldestCall) {
  make("breaker = resilience4j");
  succeed(51);
  fail(49);
  EXPECT_EQ(state(), State::kClosed);
  fail();
  EXPECT_EQ(state(), State::kOpen) << "it takes the place of the first success";
}

TEST_F(BreakerTest, CountsEveryKindOfFailure) {
  make("breaker = resilience4j\nbreaker-calls = 4");
  end(1, answered(429, std::nullopt, 0s));
  end(1, answered(404, std::nullopt, 0s));
  succeed(2);
  EXPECT_EQ(state(), State::kOpen);
}

TEST_F(BreakerTest, RefusesForAMinuteExactly) {
  make("breaker = resilience4j");
  fail(100);
  now_ += 60s;
  EXPECT_FALSE(sends());
  now_ += 1ns;
  EXPECT_TRUE(sends());
}

TEST_F(BreakerTest, LetsTenTrialsThrough) {
  make("breaker = resilience4j");
  open_and_half_open();
  for (int trial = 2; trial <= 10; ++trial) EXPECT_TRUE(sends());
  EXPECT_FALSE(sends());
  fail(4);
  succeed(5);
  EXPECT_FALSE(sends()) << "an end makes no room for another trial";
  succeed();
  EXPECT_EQ(state(), State::kClosed);
  fail(99);
  EXPECT_EQ(state(), State::kClosed) << "its window was empty";
  fail();
  EXPECT_EQ(state(), State::kOpen);
}

TEST_F(BreakerTest, OpensAgainWhenHalfTheTrialsFail) {
  make("breaker = resilience4j");
  open_and_half_open();
  succeed(5);
  fail(5);
  EXPECT_EQ(state(), State::kOpen);
  now_ += 60s;
  EXPECT_FALSE(sends()) << "for another minute";
}

TEST_F(BreakerTest, TakesBackATrialThatAnotherGateRefused) {
  make("breaker = resilience4j\nbreaker-trials = 1");
  open_and_half_open();
  EXPECT_FALSE(sends());
  breaker_->take_back(now_);
  EXPECT_TRUE(sends());
  EXPECT_FALSE(sends());
}

TEST_F(BreakerTest, CountsLateEndsInItsPresentState) {
  make("breaker = resilience4j");
  open_and_half_open();
  end(10, timed_out(90s));  // sent before it opened
  EXPECT_EQ(state(), State::kOpen);
}

TEST_F(BreakerTest, OpensWhenAllCallsAreSlow) {
  make("breaker = resilience4j\nbreaker-calls = 10\nbreaker-slow-call = 1s");
  end(9, {.latency = 1s + 1ns});
  end(1, {.latency = 1s});
  EXPECT_EQ(state(), State::kClosed) << "one of ten was not slow";
  end(10, {.latency = 1s + 1ns});
  EXPECT_EQ(state(), State::kOpen);
}

TEST_F(BreakerTest, LooksAtTheLastSecondsOfTheClock) {
  now_ += 700ms;
  make(
      "breaker = resilience4j\nbreaker-window = time\nbreaker-time = 10s\nbreaker-slices = 10\n"
      "breaker-min-calls = 4");
  fail(3);
  now_ = TimePoint(1h) + 10s - 1ns;
  succeed(2);
  EXPECT_EQ(state(), State::kOpen) << "3 of 4 in ten seconds";

  now_ = TimePoint(2h) + 700ms;
  make(
      "breaker = resilience4j\nbreaker-window = time\nbreaker-time = 10s\nbreaker-slices = 10\n"
      "breaker-min-calls = 4");
  fail(3);
  now_ = TimePoint(2h) + 10s;
  succeed(3);
  fail(1);
  EXPECT_EQ(state(), State::kClosed) << "1 of 4: the second of the three has passed";
}

// 10 % of at least 100 in 30 s, looked at as one fails; then 5 s, and one trial.
TEST_F(BreakerTest, CanBePollys) {
  make("breaker = polly");
  fail(10);
  succeed(90);
  EXPECT_EQ(state(), State::kClosed) << "10 of 100, but the last one was no failure";
  fail();
  EXPECT_EQ(state(), State::kOpen);
  now_ += 5s;
  EXPECT_FALSE(sends());
  now_ += 1ns;
  EXPECT_TRUE(sends());
  EXPECT_FALSE(sends());
  succeed();
  EXPECT_EQ(state(), State::kClosed);

  fail(10);
  succeed(90);
  now_ += 30s;
  fail(99);
  EXPECT_EQ(state(), State::kClosed) << "the others have been forgotten";
  fail();
  EXPECT_EQ(state(), State::kOpen);
}

TEST_F(BreakerTest, CanBeHystrix) {
  make("breaker = hystrix");
  succeed(10);
  fail(9);
  EXPECT_EQ(state(), State::kClosed);
  fail();
  EXPECT_EQ(state(), State::kOpen);
}

// More than 5 consecutive failures.
TEST_F(BreakerTest, CanBeGobreakers) {
  make("breaker = gobreaker");
  fail(5);
  succeed();
  fail(5);
  EXPECT_EQ(state(), State::kClosed);
  fail();
  EXPECT_EQ(state(), State::kOpen);
  now_ += 60s;
  EXPECT_FALSE(sends());
  now_ += 1ns;
  EXPECT_TRUE(sends());
  EXPECT_FALSE(sends());
  end(3, timed_out(90s));
  EXPECT_EQ(state(), State::kHalfOpen) << "sent before: it does not count";
  succeed();
  EXPECT_EQ(state(), State::kClosed);

  fail(6);
  now_ += 60s + 1ns;
  EXPECT_TRUE(sends());
  fail();
  EXPECT_EQ(state(), State::kOpen);
}

TEST(BreakerSettings, RefuseANumberThatHasNoEffect) {
  test::expect_refusals(settings_of<BreakerSettings>,
                        {{"breaker-trials = 5", "breaker-trials has no effect without --breaker"},
                         {"breaker = resilience4j\nbreaker-time = 5s",
                          "breaker-time has no effect with --breaker-window=calls"},
                         {"breaker = polly\nbreaker-calls = 5",
                          "breaker-calls has no effect with --breaker-window=time"},
                         {"breaker = polly\nbreaker-time = 0s", "breaker-time"},
                         {"breaker = gobreaker\nbreaker-calls = 0", "breaker-calls"},
                         {"breaker = gobreaker\nbreaker-calls = 5", ""}});
}

}  // namespace
}  // namespace retrystorm
