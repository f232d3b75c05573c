#include "model/run/client_behaviour.h"

#include "model/run/connections.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

constexpr Duration kThink = 6931471805ns;  // u = 0.5 of a mean of 10 s: ln 2 * 10 s

RetrySettings with_limit(const char* strategy, std::uint32_t max_retries) {
  RetrySettings settings = retry_settings(strategy);
  settings.limit.max_retries = max_retries;
  settings.pacer.randomization = 0;
  return settings;
}

class ClientBehaviourTest : public testing::Test {
 protected:
  NextAttempt after(const ClientBehaviour& behaviour, Outcome outcome, ScriptedRandom random) {
    const AttemptResult result = outcome == Outcome::kOk      ? AttemptResult{}
                                 : outcome == Outcome::kError ? not_connected(1ms)
                                                              : timed_out(2s);
    const NextAttempt next =
        behaviour.after(TimePoint(1h), result, state_, nullptr, random, metrics_);
    EXPECT_EQ(random.left(), 0);
    return next;
  }

  RetryState state_;
  RetryMetrics metrics_;
};

TEST_F(ClientBehaviourTest, ThinksBeforeTheFirstRequest) {
  const ClientBehaviour behaviour(10s, {});
  ScriptedRandom random{0.5};
  EXPECT_EQ(behaviour.start(state_, random), kThink);
}

TEST_F(ClientBehaviourTest, ThinksAfterASuccess) {
  const ClientBehaviour behaviour(10s, {});
  const NextAttempt next = after(behaviour, Outcome::kOk, {0.5});
  EXPECT_EQ(next.wait, 0s);
  EXPECT_EQ(next.think, kThink);
  EXPECT_FALSE(next.retry);
  EXPECT_FALSE(next.gave_up.has_value());
}

TEST_F(ClientBehaviourTest, RetriesErrorsAndTimeoutsAlike) {
  const ClientBehaviour behaviour(10s, {});
  for (const Outcome outcome : {Outcome::kError, Outcome::kTimedOut}) {
    const NextAttempt next = after(behaviour, outcome, {});
    EXPECT_EQ(next.wait, 100ms);
    EXPECT_TRUE(next.retry);
    EXPECT_FALSE(next.gave_up.has_value());
  }
}

TEST_F(ClientBehaviourTest, GivesUpAfterTheLastRetryAndThinks) {
  const ClientBehaviour behaviour(10s, with_limit("fixed", 2));
  EXPECT_TRUE(after(behaviour, Outcome::kError, {}).retry);
  EXPECT_TRUE(after(behaviour, Outcome::kError, {}).retry);
  const NextAttempt last = after(behaviour, Outcome::kError, {0.5});
  EXPECT_EQ(last.gave_up, GiveUp::kAttempts);
  EXPECT_FALSE(last.retry);
  EXPECT_EQ(last.wait, 0s);
  EXPECT_EQ(last.think, kThink);
  // The next request has all its retries again.
  EXPECT_TRUE(after(behaviour, Outcome::kError, {}).retry);
  EXPECT_TRUE(after(behaviour, Outcome::kError, {}).retry);
  EXPECT_TRUE(after(behaviour, Outcome::kError, {0.5}).gave_up.has_value());
}

// The wait comes before the first attempt, and the next one is longer: full jitter of 1 s, of 2 s.
TEST_F(ClientBehaviourTest, WaitsBeforeTheFirstAttemptAfterALoss) {
  RetrySettings settings;
  settings.backoff = ReconnectSettings().backoff;
  const ClientBehaviour behaviour(10s, settings);
  ScriptedRandom random{0.5, 0.5};
  behaviour.start(state_, random);
  const NextAttempt next = behaviour.after_loss(TimePoint(1h), state_, nullptr, random, metrics_);
  EXPECT_TRUE(next.retry);
  EXPECT_EQ(next.wait, 500ms);
  EXPECT_EQ(state_.begun, TimePoint(1h));
  EXPECT_EQ(after(behaviour, Outcome::kError, {0.5}).wait, 1s);
}

TEST_F(ClientBehaviourTest, SleeperPausesBeforeTheThinkTime) {
  const ClientBehaviour behaviour(10s, with_limit("responsive", 100));
  EXPECT_EQ(after(behaviour, Outcome::kError, {}).wait, 500ms);
  const NextAttempt next = after(behaviour, Outcome::kOk, {0.5});
  EXPECT_EQ(next.wait, 500ms);
  EXPECT_EQ(next.think, kThink);
}

TEST_F(ClientBehaviourTest, SleeperPausesWhenItGivesUpToo) {
  const ClientBehaviour behaviour(10s, with_limit("responsive", 1));
  after(behaviour, Outcome::kError, {});
  const NextAttempt next = after(behaviour, Outcome::kError, {0.5});
  EXPECT_TRUE(next.gave_up.has_value());
  EXPECT_EQ(next.wait, 750ms);
  EXPECT_EQ(next.think, kThink);
}

TEST_F(ClientBehaviourTest, BackoffFromThinkTimeStartsFromTheThinkTimeDrawnLast) {
  RetrySettings settings = retry_settings("exponential");
  settings.backoff.factor = 3;
  settings.backoff.jitter = {};
  settings.backoff.from = BackoffFrom::kThinkTime;
  const ClientBehaviour behaviour(10s, settings);
  ScriptedRandom random{0.5};
  behaviour.start(state_, random);
  EXPECT_EQ(after(behaviour, Outcome::kError, {}).wait, 3 * kThink);
  after(behaviour, Outcome::kOk, {0.75});
  EXPECT_EQ(after(behaviour, Outcome::kError, {}).wait, 3 * 13862943611ns);  // 2 ln 2 * 10 s
}

TEST_F(ClientBehaviourTest, NoThinkTimeIsNoWait) {
  const ClientBehaviour behaviour(0s, {});
  EXPECT_EQ(after(behaviour, Outcome::kOk, {0.9}).wait, 0s);
}

}  // namespace
}  // namespace retrystorm
