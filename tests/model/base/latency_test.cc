#include "model/base/latency.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/run/run_latencies.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

TEST(LatencyHistogram, OfNothingHasNoQuantile) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), std::nullopt);
  EXPECT_EQ(histogram.max(), std::nullopt);
}

TEST(LatencyHistogram, MaximumIsExact) {
  LatencyHistogram histogram;
  histogram.add(123456789ns);
  histogram.add(100ms);
  EXPECT_EQ(histogram.max(), 123456789ns);
}

TEST(LatencyHistogram, QuantilesAreOffByAtMost4PerMille) {
  // From a microsecond to an hour, in steps that hit every part of a bin.
  for (double seconds = 1e-6; seconds < 3600; seconds *= 1.00137) {
    LatencyHistogram histogram;
    histogram.add(from_seconds(seconds));
    histogram.add(2h);  // so that the maximum does not cut the answer
    const double found = to_seconds(*histogram.quantile(0.5));
    ASSERT_LE(std::abs(found - seconds), 0.004 * seconds + 1e-9) << seconds;
  }
}

TEST(LatencyHistogram, FindsQuantilesByRank) {
  LatencyHistogram histogram;
  for (int i = 1; i <= 100; ++i) histogram.add(i * 1ms);
  EXPECT_NEAR(to_seconds(*histogram.quantile(0.5)), 0.050, 0.0002);
  EXPECT_NEAR(to_seconds(*histogram.quantile(0.95)), 0.095, 0.0004);
  EXPECT_NEAR(to_seconds(*histogram.quantile(0.99)), 0.099, 0.0004);
  EXPECT_NEAR(to_seconds(*histogram.quantile(0.01)), 0.001, 0.0002);
  EXPECT_NEAR(to_seconds(*histogram.quantile(1)), 0.100, 0.0004);
}

TEST(LatencyHistogram, QuantileIsNeverAboveTheMaximum) {
  LatencyHistogram histogram;
  for (int i = 0; i < 1000; ++i) histogram.add(100ms);
  EXPECT_LE(*histogram.quantile(0.5), 100ms);
  EXPECT_GE(*histogram.quantile(0.5), 99600us);
}

TEST(LatencyHistogram, TakesWhatIsOutsideItsRange) {
  LatencyHistogram histogram;
  histogram.add(0ns);
  histogram.add(-5ms);
  EXPECT_LE(*histogram.quantile(1), 1us);
  histogram.add(5h);
  EXPECT_EQ(histogram.quantile(1), 5h);
  EXPECT_LE(*histogram.quantile(0.5), 1us);
}

TEST(LatencyHistogram, AddsAnother) {
  LatencyHistogram a, b;
  a.add(10ms);
  b.add(20ms);
  b.add(30ms);
  a.add(b);
  EXPECT_EQ(a.max(), 30ms);
  EXPECT_NEAR(to_seconds(*a.quantile(0.5)), 0.020, 0.0001);
  EXPECT_NEAR(to_seconds(*a.quantile(0.3)), 0.010, 0.0001);
}

TEST(LatencyHistogram, TellsWhatWasAddedSince) {
  LatencyHistogram all;
  for (int i = 0; i < 100; ++i) all.add(10ms);
  const LatencyHistogram before = all;
  EXPECT_EQ(all.since(before).quantile(0.5), std::nullopt);
  all.add(1s);
  all.add(0ns);
  EXPECT_NEAR(to_seconds(*all.since(before).quantile(1)), 1, 0.004);
  EXPECT_LE(*all.since(before).quantile(0.5), 1us);
}

TEST(RunLatencies, TellAttemptsFromRequests) {
  RunLatencies latencies;
  latencies.add_ok(100ms, 100ms);
  latencies.add_ok(200ms, 5s);  // after a retry
  latencies.add_given_up(20s);
  EXPECT_EQ(latencies.attempts().max(), 200ms);
  EXPECT_EQ(latencies.requests().max(), 20s);
  EXPECT_NEAR(to_seconds(*latencies.attempts().quantile(0.5)), 0.1, 0.0004);
  EXPECT_NEAR(to_seconds(*latencies.requests().quantile(0.5)), 5, 0.02);
}

}  // namespace
}  // namespace retrystorm
