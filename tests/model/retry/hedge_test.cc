#include "model/retry/hedge.h"

#include "model/retry/retry_policy.h"
#include "tests/support/refusal.h"
#include "tests/support/retry_parts.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using test::kError;
using test::kStart;

HedgeSettings hedge_settings(std::string_view text) {
  return test::settings_of<RetrySettings>(text).hedge;
}

TEST(Hedge, IsADelayOrAPercentileOrNone) {
  EXPECT_FALSE(HedgeSettings().any());
  EXPECT_FALSE(hedge_settings("hedge = none").any());
  EXPECT_EQ(hedge_settings("hedge = 50ms").delay, 50ms);
  EXPECT_TRUE(hedge_settings("hedge = 0s").any());
  EXPECT_EQ(hedge_settings("hedge = p99.5").percentile, 99.5);
  EXPECT_EQ(hedge_settings("hedge = p95").delay, Duration::max());
}

TEST(Hedge, RefusesWhatIsNoDelayInOneLine) {
  const std::string no_percentile = "' is no percentile between p0 and p100";
  test::expect_refusals(
      hedge_settings,
      {{"hedge = p0", "hedge: 'p0" + no_percentile},
       {"hedge = p100", "hedge: 'p100" + no_percentile},
       {"hedge = p101", "hedge: 'p101" + no_percentile},
       {"hedge = p-5", "hedge: 'p-5" + no_percentile},
       {"hedge = px", "hedge: 'px" + no_percentile},
       {"hedge = -1s", "is negative"},
       {"hedge = 1s\nhedge-max = 0", "hedge-max: '0'"},
       {"hedge-max = 2", "hedge-max has no effect without --hedge"},
       {"hedge-on = timeout\nhedge = 1s", "hedge has no effect with --hedge-on=timeout"}});
}

// Finagle: nothing before the first refresh, which comes after 3 s, then a percentile of 30 s.
TEST(HedgeHistory, IsReadEveryThreeSeconds) {
  HedgeProcess process(hedge_settings("hedge = p90"), kStart);
  for (int i = 1; i <= 100; ++i) process.add_latency(kStart, i * 10ms);
  EXPECT_EQ(process.delay(kStart + 2999ms), Duration::max());
  EXPECT_NEAR(to_seconds(process.delay(kStart + 3s)), 0.9, 0.005);
  for (int i = 0; i < 1000; ++i) process.add_latency(kStart + 4s, 5s);
  EXPECT_NEAR(to_seconds(process.delay(kStart + 5999ms)), 0.9, 0.005);
  EXPECT_NEAR(to_seconds(process.delay(kStart + 6s)), 5, 0.025);
  process.add_latency(kStart + 41s, 20ms);
  EXPECT_NEAR(to_seconds(process.delay(kStart + 42s)), 0.02, 0.0001) << "the rest is too old";
}

TEST(HedgeHistory, NeverHedgesWithinAMillisecond) {
  HedgeProcess process(hedge_settings("hedge = p50"), kStart);
  process.add_latency(kStart, 10us);
  EXPECT_EQ(process.delay(kStart + 3s), 1ms);
}

// Finagle's budget: a share of the requests of 10 s, and 10 a second besides.
TEST(HedgeBudget, AllowsAShareAndTenASecond) {
  HedgeProcess process(hedge_settings("hedge = 1s\nhedge-budget = 0.1"), kStart);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(process.withdraw(kStart)) << i;
  EXPECT_FALSE(process.withdraw(kStart));
  for (int i = 0; i < 9; ++i) process.request_begins(kStart);
  EXPECT_FALSE(process.withdraw(kStart));
  process.request_begins(kStart);
  EXPECT_TRUE(process.withdraw(kStart));
  EXPECT_FALSE(process.withdraw(kStart));
  EXPECT_TRUE(process.withdraw(kStart + 10s));
}

// gRPC A6: no hedges while the tokens are at half of the bucket or below.
TEST(HedgePolicy, IsThrottledAsRetriesAre) {
  const auto retry = test::settings_of<RetrySettings>(
      "hedge = 500ms\nhedge-max = 3\nretry-budget = grpc\nbudget-tokens = 10\n");
  const RetryPolicy policy(retry);
  const HedgePolicy hedges(retry, policy);
  const auto process = policy.make_process(kStart);
  RetryState state;
  for (int failures = 0; failures < 5; ++failures) {
    HedgeRace request;
    EXPECT_TRUE(hedges.pay(kStart, request, state, process.get())) << failures;
    policy.attempt_ended(kStart, test::kTimeout, state, process.get());
  }
  HedgeRace request;
  EXPECT_FALSE(hedges.pay(kStart, request, state, process.get()));
  EXPECT_EQ(hedges.sent(kStart, false, request, process.get()), Duration::max());
}

// A request by itself, told by hand what happens to its attempts.
class HedgeRaceTest : public testing::Test {
 protected:
  using Kind = HedgeMove::Kind;

  void set(std::string_view text) {
    retry_ = test::settings_of<RetrySettings>(text);
    policy_.emplace(retry_);
    hedges_.emplace(retry_, *policy_);
    policy_->begin_request(state_, 0s);
    RetryPolicy::begin(state_, kStart);
  }

  HedgePolicy::Asker asker() {
    return {race_, state_, hedge_, nullptr, random_, metrics_, left_, ends_in_};
  }
  Duration sent(bool hedge) {
    ++race_.in_flight;
    return hedges_->sent(kStart, hedge, race_, nullptr);
  }
  HedgeMove failed(const AttemptResult& failure) {
    --race_.in_flight;
    return hedges_->failed(kStart, failure, retried_, asker());
  }
  HedgeMove due() { return hedges_->due(kStart, asker()); }

  RetrySettings retry_;
  std::optional<RetryPolicy> policy_;
  std::optional<HedgePolicy> hedges_;
  HedgeRace race_;
  RetryState state_, hedge_;
  ClientRandom random_{1, 0};
  RetryMetrics metrics_;
  Duration left_ = Duration::max(), ends_in_ = Duration::max();
  bool retried_ = false;
};

// gRPC A6: a failure that is not fatal sends the next one at once, while there are more.
TEST_F(HedgeRaceTest, SendsTheNextOneForOneThatFails) {
  set("hedge = 500ms\nhedge-max = 2");
  EXPECT_EQ(sent(false), 500ms);
  EXPECT_EQ(due().kind, Kind::kSend);
  EXPECT_EQ(sent(true), 500ms);
  HedgeMove move = failed(kError);
  EXPECT_EQ(move.kind, Kind::kWait);
  EXPECT_EQ(move.wait, 0s);
  EXPECT_TRUE(move.fails);
  EXPECT_FALSE(move.idles) << "another one is under way";
  EXPECT_EQ(due().kind, Kind::kSend);
  EXPECT_EQ(sent(true), Duration::max()) << "both hedges are sent";
  EXPECT_EQ(failed(kError).kind, Kind::kGoesOn);
  EXPECT_EQ(failed(kError).kind, Kind::kOver);
}

// A6: the server's pushback is waited for, by a request that has nothing under way.
TEST_F(HedgeRaceTest, WaitsAsLongAsTheServerAsks) {
  set("hedge = 500ms\nhedge-max = 2\nretry-after = at-least");
  sent(false);
  AttemptResult failure = kError;
  failure.retry_after = 3s;
  left_ = 3s;
  EXPECT_EQ(failed(failure).kind, Kind::kOver) << "its time is over by then";
  left_ = 4s;
  sent(false);
  const HedgeMove move = failed(failure);
  EXPECT_EQ(move.kind, Kind::kWait);
  EXPECT_EQ(move.wait, 3s);
  EXPECT_TRUE(move.idles);
  const HedgeMove next = due();
  EXPECT_EQ(next.kind, Kind::kSend);
  EXPECT_TRUE(next.resumes);
}

// Envoy's hedge_on_per_try_timeout: each try that is late is retried once, and goes on.
TEST_F(HedgeRaceTest, RetriesEachLateOneOnce) {
  set("hedge-on = timeout\nfixed-delay = 100ms\nmax-retries = 5");
  EXPECT_EQ(sent(false), Duration::max());
  HedgeMove move = hedges_->late(kStart, test::kTimeout, retried_, asker());
  EXPECT_EQ(move.kind, Kind::kWait);
  EXPECT_EQ(move.wait, 100ms);
  EXPECT_EQ(hedges_->late(kStart, test::kTimeout, retried_, asker()).kind, Kind::kGoesOn);
  EXPECT_EQ(state_.retries, 1U);
  move = failed(kError);
  EXPECT_EQ(move.kind, Kind::kGoesOn) << "its retry waits";
  EXPECT_TRUE(move.idles);
  EXPECT_EQ(due().kind, Kind::kSend);
  sent(true);
  EXPECT_EQ(failed(kError).kind, Kind::kOver);
}

// Nothing is sent for somebody who has gone. What is under way may still answer.
TEST_F(HedgeRaceTest, EndsWithItsCaller) {
  set("hedge = 500ms\nhedge-max = 2");
  sent(false);
  ends_in_ = 0s;
  EXPECT_EQ(due().kind, Kind::kGoesOn);
  EXPECT_EQ(failed(kError).kind, Kind::kOver) << "no more hedges";
  race_ = {};
  sent(false);
  ends_in_ = 1s;
  failed(kError);
  ends_in_ = 0s;
  const HedgeMove move = due();
  EXPECT_EQ(move.kind, Kind::kOver);
  EXPECT_EQ(move.permission, Permission::Kind::kTooLate);
}

}  // namespace
}  // namespace retrystorm
