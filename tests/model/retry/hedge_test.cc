#include "model/retry/hedge.h"

#include "model/retry/retry_policy.h"
#include "tests/support/refusal.h"
#include "tests/support/retry_parts.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

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
  const HedgePolicy hedges(retry);
  const auto process = policy.make_process(kStart);
  RetryState state;
  for (int failures = 0; failures < 5; ++failures) {
    HedgeState request;
    EXPECT_TRUE(hedges.pay(kStart, request, state, process.get())) << failures;
    policy.attempt_ended(kStart, test::kTimeout, state, process.get());
  }
  HedgeState request;
  EXPECT_FALSE(hedges.pay(kStart, request, state, process.get()));
  EXPECT_EQ(hedges.next_delay(kStart, request, process.get()), Duration::max());
}

}  // namespace
}  // namespace retrystorm
