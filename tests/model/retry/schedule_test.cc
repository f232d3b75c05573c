#include "model/retry/schedule.h"

#include "model/base/random.h"
#include "model/retry/strategies.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

std::vector<ScheduledWait> waits_of(const char* strategy, std::size_t count,
                                    std::uint64_t seed = 1) {
  return scheduled_waits(retry_settings(strategy), 10s, seed, count);
}

std::vector<double> seconds(const std::vector<ScheduledWait>& waits) {
  std::vector<double> all;
  for (const ScheduledWait& each : waits) all.push_back(to_seconds(each.wait));
  return all;
}

std::vector<bool> failures(const std::vector<ScheduledWait>& waits) {
  std::vector<bool> all;
  for (const ScheduledWait& each : waits) all.push_back(each.failed);
  return all;
}

TEST(Schedule, EndsWhereTheRequestIsGivenUp) {
  EXPECT_EQ(waits_of("truncated", 100).size(), 7);
  EXPECT_EQ(waits_of("none", 8).size(), 0);
  EXPECT_EQ(waits_of("aws-standard", 8).size(), 2);
  EXPECT_EQ(waits_of("grpc", 8).size(), 3);  // no timeout is retried
  RetrySettings retry = retry_settings("fixed");
  retry.limit.max_retries = 5;
  retry.limit.deadline = 250ms;  // a third retry would begin after it
  EXPECT_EQ(scheduled_waits(retry, 10s, 1, 100).size(), 2);
}

TEST(Schedule, IsTheSameForTheSameSeed) {
  EXPECT_EQ(seconds(waits_of("responsive", 20, 7)), seconds(waits_of("responsive", 20, 7)));
  EXPECT_NE(seconds(waits_of("responsive", 20, 7)), seconds(waits_of("responsive", 20, 8)));
}

// A quantile of a thousand draws differs from that of the distribution by at most five standard
// deviations, each sqrt(p * (1 - p) / 1000) / density.
double tolerance(double p, double density) {
  return 5 * std::sqrt(p * (1 - p) / 1000) / density;
}

TEST(Schedule, HasTheQuantilesOfOtherJitters) {
  RetrySettings retry = retry_settings("fixed");
  retry.backoff.base = 1s;
  retry.backoff.jitter = parse_jitter("exponential");
  for (const ScheduledWait& each : scheduled_waits(retry, 10s, 7, 2)) {
    for (std::size_t k = 0; k < ScheduledWait::kShares.size(); ++k) {
      const double p = ScheduledWait::kShares[k];  // -ln(1 - p), where the density is 1 - p
      EXPECT_NEAR(to_seconds(each.spread->at(k)), -std::log(1 - p), tolerance(p, 1 - p));
    }
  }
  // The 5th and the 95th percentile of a normal wait of 1 s +- 10 % are 1 -+ 1.645 * 0.1.
  retry.backoff.jitter = parse_jitter("10%");
  const auto spread = *scheduled_waits(retry, 10s, 1, 1)[0].spread;
  EXPECT_NEAR(to_seconds(spread[0]), 0.8355, 0.02);
  EXPECT_NEAR(to_seconds(spread[1]), 1, 0.02);
  EXPECT_NEAR(to_seconds(spread[2]), 1.1645, 0.02);
}

TEST(Schedule, HasQuantilesOnlyOfRandomWaits) {
  EXPECT_TRUE(waits_of("hbase", 8)[0].spread);
  for (const char* strategy : {"fixed", "linear", "finagle", "go-retryablehttp"}) {
    EXPECT_FALSE(waits_of(strategy, 8)[0].spread) << strategy;
  }
  // A wait that the cap cuts is not random.
  EXPECT_EQ(waits_of("truncated", 7)[6].spread, (std::array<Duration, 3>{32s, 32s, 32s}));
}

// Fails until a wait of 4 s is reached, then succeeds while it is above 1 s.
TEST(Schedule, FollowsTheSleeperUpAndDown) {
  RetrySettings retry = retry_settings("responsive");
  retry.pacer.initial_interval = 1s;
  retry.pacer.up_multiplier = 2;
  retry.pacer.down_multiplier = 0.5;
  retry.pacer.down_threshold = 1;
  retry.pacer.randomization = 0;
  const auto waits = scheduled_waits(retry, 10s, 1, 6, ScheduleStory{4s, 1s});
  EXPECT_EQ(seconds(waits), (std::vector{1.0, 2.0, 4.0, 2.0, 1.0, 2.0}));
  EXPECT_EQ(failures(waits), (std::vector{true, true, true, false, false, true}));
}

// As for a client: after a success comes another request, whose first wait is the base again.
TEST(Schedule, StartsAgainAfterASuccess) {
  RetrySettings retry = retry_settings("exponential");
  retry.backoff.jitter.amount = 0;
  const auto waits = scheduled_waits(retry, 10s, 1, 7, ScheduleStory{700ms, 0s});
  EXPECT_EQ(seconds(waits), (std::vector{0.1, 0.271828, 0.738904616, 0.0, 0.1, 0.0, 0.1}));
  EXPECT_EQ(failures(waits), (std::vector{true, true, true, false, true, false, true}));
}

// Each request has its own think time, drawn as a client draws it.
TEST(Schedule, DrawsEachThinkTimeThatAWaitStartsFrom) {
  RetrySettings retry = retry_settings("exponential");
  retry.backoff.jitter = parse_jitter("none");
  retry.backoff.from = BackoffFrom::kThinkTime;
  ClientRandom random(5, 0);
  const double first = to_seconds(random.exponential(10s));
  const double second = to_seconds(random.exponential(10s));
  const auto waits = seconds(scheduled_waits(retry, 10s, 5, 4, ScheduleStory{1ns, 0s}));
  EXPECT_NEAR(waits[2] / waits[0], second / first, 1e-6);
}

}  // namespace
}  // namespace retrystorm
