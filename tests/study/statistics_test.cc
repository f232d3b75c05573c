#include "study/statistics.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

TEST(WilsonInterval, AgreesWithPublishedValues) {
  // For 0 of 10 the upper bound is z^2/(n + z^2) = 3.8415/13.8415.
  EXPECT_NEAR(wilson_interval(0, 10).low, 0, 1e-12);
  EXPECT_NEAR(wilson_interval(0, 10).high, 0.27753, 1e-5);
  EXPECT_NEAR(wilson_interval(10, 10).low, 0.72247, 1e-5);
  EXPECT_NEAR(wilson_interval(10, 10).high, 1, 1e-12);
  EXPECT_NEAR(wilson_interval(5, 10).low, 0.23659, 1e-5);
  EXPECT_NEAR(wilson_interval(5, 10).high, 0.76341, 1e-5);
}

// z = 2.575829: the usual 99 % quantile.
TEST(WilsonInterval, IsWiderForAHigherConfidence) {
  const double z2 = 2.5758293035489 * 2.5758293035489;
  EXPECT_NEAR(wilson_interval(0, 50, 0.01).high, z2 / (50 + z2), 1e-9);
  EXPECT_EQ(wilson_interval(3, 50, 0.05).low, wilson_interval(3, 50).low);
}

TEST(WilsonInterval, OfNoneBeginsAtNoneAndOfAllEndsAtAll) {
  for (std::size_t runs = 1; runs < 1000; ++runs) {
    for (const double misses : {0.05, 0.01, 0.05 / 7}) {
      EXPECT_EQ(wilson_interval(0, runs, misses).low, 0) << runs;
      EXPECT_EQ(wilson_interval(runs, runs, misses).high, 1) << runs;
    }
  }
}

TEST(WilsonInterval, KnowsNothingWithoutRuns) {
  EXPECT_EQ(wilson_interval(0, 0).low, 0);
  EXPECT_EQ(wilson_interval(0, 0).high, 1);
}

// The eight examples of Newcombe (1998), Table II, method 10.
TEST(NewcombeInterval, AgreesWithPublishedValues) {
  const auto expect = [](std::size_t a, std::size_t m, std::size_t b, std::size_t n, double low,
                         double high) {
    const Interval interval = newcombe_interval(a, m, b, n);
    EXPECT_NEAR(interval.low, low, 5e-5) << a << '/' << m << " - " << b << '/' << n;
    EXPECT_NEAR(interval.high, high, 5e-5) << a << '/' << m << " - " << b << '/' << n;
  };
  expect(56, 70, 48, 80, 0.0524, 0.3339);
  expect(9, 10, 3, 10, 0.1705, 0.8090);
  expect(6, 7, 2, 7, 0.0582, 0.8062);
  expect(5, 56, 0, 29, -0.0381, 0.1926);
  expect(0, 10, 0, 20, -0.1611, 0.2775);
  expect(0, 10, 0, 10, -0.2775, 0.2775);
  expect(10, 10, 0, 20, 0.6791, 1.0000);
  expect(10, 10, 0, 10, 0.6075, 1.0000);
}

TEST(NewcombeInterval, IsMirroredForTheOppositeDifference) {
  const Interval there = newcombe_interval(17, 20, 3, 20);
  const Interval back = newcombe_interval(3, 20, 17, 20);
  EXPECT_DOUBLE_EQ(there.low, -back.high);
  EXPECT_DOUBLE_EQ(there.high, -back.low);
}

TEST(NewcombeInterval, KnowsNothingWithoutRuns) {
  EXPECT_EQ(newcombe_interval(0, 0, 1, 2).low, -1);
  EXPECT_EQ(newcombe_interval(1, 2, 0, 0).high, 1);
}

// Student's t for 95 %: 12.706, 4.303, 3.182, 2.776, 2.571, 2.262, 2.093, 1.984; for 99 %: 63.657, 9.925, and 2.977 with
// 14 degrees (any table).
TEST(Mean, HasAnIntervalByStudentsT) {
  const auto t_of = [](std::size_t n, double misses) {
    // Half of them one above zero, half of them one below: the standard deviation is known.
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) values.push_back(i % 2 == 0 ? 1 : -1);
    const Mean result = mean(values, misses);
    double variance = 0;
    for (const double each : values) variance += (each - result.value) * (each - result.value);
    const auto count = static_cast<double>(n);
    return (result.interval->high - result.value) / std::sqrt(variance / (count - 1) / count);
  };
  const std::tuple<std::size_t, double, double, double> rows[] = {
      {2, 0.05, 12.706, 0.001}, {3, 0.05, 4.303, 0.001},   {4, 0.05, 3.182, 0.025},
      {5, 0.05, 2.776, 0.01},   {6, 0.05, 2.571, 0.005},   {10, 0.05, 2.262, 0.001},
      {20, 0.05, 2.093, 0.001}, {100, 0.05, 1.984, 0.001}, {2, 0.01, 63.657, 0.001},
      {3, 0.01, 9.925, 0.001},  {15, 0.01, 2.977, 0.01}};
  for (const auto& [n, misses, t, within] : rows) EXPECT_NEAR(t_of(n, misses), t, within) << n;
  EXPECT_EQ(mean({1, 2}, 0.05).interval->high, mean({1, 2}).interval->high);
}

TEST(Mean, OfOneValueHasNoInterval) {
  EXPECT_EQ(mean({3}).value, 3);
  EXPECT_FALSE(mean({3}).interval);
  EXPECT_EQ(mean({}).value, 0);
}

std::vector<std::optional<Duration>> in_seconds(const std::vector<int>& values) {
  std::vector<std::optional<Duration>> times;
  for (const int each : values) times.emplace_back(each * 1s);
  return times;
}

// The ranks are those of tables of the binomial distribution: 6 and 15 of 20, 2 and 9 of 10.
TEST(Median, HasAnIntervalByRanks) {
  std::vector<int> values;
  for (int i = 20; i >= 1; --i) values.push_back(i);
  EXPECT_EQ(censored_quantile(in_seconds(values), 0.5), 10s);
  const auto twenty = censored_median_interval(in_seconds(values));
  ASSERT_TRUE(twenty);
  EXPECT_EQ(twenty->low, 6s);
  EXPECT_EQ(twenty->high, 15s);
  const auto ten = censored_median_interval(in_seconds({values.end() - 10, values.end()}));
  EXPECT_EQ(ten.value().low, 2s);
  EXPECT_EQ(ten.value().high, 9s);
  const auto six = censored_median_interval(in_seconds({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(six.value().low, 1s);
  EXPECT_EQ(six.value().high, 6s);
}

TEST(Median, OfFewValuesHasNoInterval) {
  EXPECT_EQ(censored_quantile(in_seconds({3, 1, 2, 9, 4}), 0.5), 3s);
  EXPECT_FALSE(censored_median_interval(in_seconds({3, 1, 2, 9, 4})));
  EXPECT_FALSE(censored_median_interval({}));
}

// Half to the power of 3,000 underflows. The normal distribution is close enough there.
TEST(Median, OfManyValuesHasAnIntervalToo) {
  std::vector<int> values;
  for (int i = 1; i <= 3000; ++i) values.push_back(i);
  const auto many = censored_median_interval(in_seconds(values));
  EXPECT_NEAR(to_seconds(many.value().low.value()), 1500.5 - 1.96 * std::sqrt(750), 1);
  EXPECT_NEAR(to_seconds(many.value().high.value()), 1500.5 + 1.96 * std::sqrt(750), 1);
}

TEST(CensoredMedian, HasAnIntervalThatMayEndNever) {
  std::vector<std::optional<Duration>> times;
  for (int i = 20; i >= 1; --i) times.push_back(i > 14 ? std::nullopt : std::optional(i * 1s));
  const auto some = censored_median_interval(times);
  ASSERT_TRUE(some);
  EXPECT_EQ(some->low, 6s);
  EXPECT_EQ(some->high, std::nullopt);
  const auto never = censored_median_interval(std::vector<std::optional<Duration>>(6));
  ASSERT_TRUE(never);
  EXPECT_EQ(never->low, std::nullopt);
  EXPECT_FALSE(censored_median_interval({1s, 2s, 3s, 4s, 5s}));
}

TEST(MedianBound, MayBeMoreIfItFallsOnATimeThatMayBeMore) {
  const auto exactly = [](Duration time) { return TimeBound{.time = time}; };
  const auto more = [](Duration time) { return TimeBound{.time = time, .or_more = true}; };
  EXPECT_EQ(median_bound({exactly(1s), exactly(2s), more(9s)}), exactly(2s));
  EXPECT_EQ(median_bound({exactly(1s), exactly(3s), more(2s)}), more(2s));
  EXPECT_EQ(median_bound({more(2s), exactly(2s), more(2s)}), more(2s));
  EXPECT_EQ(median_bound({more(2s), exactly(2s), exactly(1s)}), exactly(2s));
  EXPECT_EQ(median_bound({std::nullopt, more(5s), std::nullopt}), more(5s));
  EXPECT_EQ(median_bound({std::nullopt}), std::nullopt);
}

TEST(CensoredQuantile, TakesTheSmallestTimeThatTheShareDoesNotExceed) {
  const std::vector<std::optional<Duration>> times{4s, 1s, 3s, 2s};
  EXPECT_EQ(censored_quantile(times, 0.25), 1s);
  EXPECT_EQ(censored_quantile(times, 0.5), 2s);
  EXPECT_EQ(censored_quantile(times, 0.9), 4s);
  EXPECT_EQ(censored_quantile(times, 1), 4s);
}

TEST(CensoredQuantile, CountsRunsThatNeverRecoveredAsTheLongest) {
  const std::vector<std::optional<Duration>> times{std::nullopt, 1s, std::nullopt, 2s};
  EXPECT_EQ(censored_quantile(times, 0.5), 2s);
  EXPECT_EQ(censored_quantile(times, 0.75), std::nullopt);
}

TEST(CensoredQuantile, OfNoRunsIsNothing) {
  EXPECT_EQ(censored_quantile({}, 0.5), std::nullopt);
}

}  // namespace
}  // namespace retrystorm
