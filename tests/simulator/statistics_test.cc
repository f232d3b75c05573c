#include "simulator/statistics.h"

#include <gtest/gtest.h>

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

TEST(WilsonInterval, AgreesWithPublishedValues) {
  // For 0 of 10 the upper bound is z^2/(n + z^2) = 3.8415/13.8415.
  EXPECT_NEAR(wilson_interval(0, 10).low, 0, 1e-12);
  EXPECT_NEAR(wilson_interval(0, 10).high, 0.27753, 1e-5);
  EXPECT_NEAR(wilson_interval(10, 10).low, 0.72247, 1e-5);
  EXPECT_NEAR(wilson_interval(10, 10).high, 1, 1e-12);
  EXPECT_NEAR(wilson_interval(5, 10).low, 0.23659, 1e-5);
  EXPECT_NEAR(wilson_interval(5, 10).high, 0.76341, 1e-5);
}

TEST(WilsonInterval, KnowsNothingWithoutRuns) {
  EXPECT_EQ(wilson_interval(0, 0).low, 0);
  EXPECT_EQ(wilson_interval(0, 0).high, 1);
}

TEST(CensoredQuantile, TakesTheSmallestTimeThatTheShareDoesNotExceed) {
  const std::vector<std::optional<Duration>> times{4s, 1s, 3s, 2s};
  EXPECT_EQ(censored_quantile(times, 0.25), 1s);
  EXPECT_EQ(censored_quantile(times, 0.5), 2s);
  EXPECT_EQ(censored_quantile(times, 0.9), 4s);
  EXPECT_EQ(censored_quantile(times, 1), 4s);
}

TEST(CensoredQuantile, CountsRunsThatNeverCameBackAsTheLongest) {
  const std::vector<std::optional<Duration>> times{std::nullopt, 1s, std::nullopt, 2s};
  EXPECT_EQ(censored_quantile(times, 0.5), 2s);
  EXPECT_EQ(censored_quantile(times, 0.75), std::nullopt);
}

TEST(CensoredQuantile, OfNothingIsNothing) {
  EXPECT_EQ(censored_quantile({}, 0.5), std::nullopt);
}

}  // namespace
}  // namespace retrystorm
