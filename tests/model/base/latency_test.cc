#include "model/base/latency.h"

#include "model/run/run_phases.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

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

TEST(LatencyHistogram, TakesValuesOutsideItsRange) {
  LatencyHistogram histogram;
  histogram.add(0ns);
  histogram.add(-5ms);
  EXPECT_LE(*histogram.quantile(1), 1us);
  histogram.add(5h);
  EXPECT_EQ(histogram.quantile(1), 5h);
  EXPECT_LE(*histogram.quantile(0.5), 1us);
}

// In order: 1 s, 2 s, 3 s, at least 3 s, 4 s, ..., 8 s, at least 60 s.
TEST(LatencyHistogram, CountsWhatIsNotOverWithItsTimeSoFar) {
  LatencyHistogram ended, so_far;
  for (int i = 1; i <= 8; ++i) ended.add(i * 1s);
  so_far.add(3s);
  so_far.add(60s);
  const auto expect = [&](double q, double seconds, bool or_more) {
    const TimeBound found = *ended.quantile(q, so_far);
    EXPECT_NEAR(to_seconds(found.time), seconds, 0.004 * seconds) << q;
    EXPECT_EQ(found.or_more, or_more) << q;
  };
  expect(0.2, 2, false);
  expect(0.3, 3, false);
  expect(0.4, 3, true);
  expect(0.5, 4, false);
  expect(0.9, 8, false);
  expect(1, 60, true);
  EXPECT_EQ(LatencyHistogram().quantile(0.5, so_far)->or_more, true);
  EXPECT_EQ(ended.quantile(0.5, LatencyHistogram())->or_more, false);
  EXPECT_EQ(LatencyHistogram().quantile(0.5, LatencyHistogram()), std::nullopt);
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

TEST(LatencyHistogram, SubtractsAnEarlierState) {
  LatencyHistogram all;
  for (int i = 0; i < 100; ++i) all.add(10ms);
  const LatencyHistogram before = all;
  EXPECT_EQ(all.since(before).quantile(0.5), std::nullopt);
  all.add(1s);
  all.add(0ns);
  EXPECT_NEAR(to_seconds(*all.since(before).quantile(1)), 1, 0.004);
  EXPECT_LE(*all.since(before).quantile(0.5), 1us);
}

TEST(RunLatencies, PutARequestIntoThePhaseInWhichItBegan) {
  const auto at = [](Duration time) { return TimePoint{} + time; };
  RunLatencies latencies;
  latencies.add_ok(at(4999ms), 1s, 1s);  // the clients are starting
  latencies.add_ok(at(5s), 100ms, 100ms);
  latencies.begin_phase(at(30s));
  latencies.add_ok(at(29s), 1s, 4s);  // began before the outage, ended in it
  latencies.add_given_up(at(30s), 2s);
  latencies.begin_phase(at(50s));
  latencies.add_ok(at(49s), 1s, 8s);
  latencies.add_unfinished(at(49s), at(90s));
  latencies.add_ok(at(50s), 100ms, 100ms);
  latencies.begin_phase(at(60s));  // another outage
  latencies.begin_phase(at(70s));
  latencies.add_given_up(at(65s), 2s);
  latencies.add_unfinished(at(80s), at(90s));
  const auto before = latencies.began_in(RunPhase::kBefore);
  EXPECT_EQ(before.ok, 2);
  EXPECT_EQ(before.gave_up + before.times.so_far.count(), 0);
  EXPECT_EQ(before.times.max(), (TimeBound{.time = 4s, .or_more = false}));
  const auto during = latencies.began_in(RunPhase::kDuring);
  EXPECT_EQ(during.ok, 1);
  EXPECT_EQ(during.gave_up, 2);
  EXPECT_EQ(during.times.ended.max(), 8s);
  EXPECT_EQ(during.times.max(), (TimeBound{.time = 41s, .or_more = true}));
  const auto after = latencies.began_in(RunPhase::kAfter);
  EXPECT_EQ(after.ok, 1);
  EXPECT_EQ(after.gave_up, 0);
  EXPECT_EQ(after.times.so_far.max(), 10s);
  EXPECT_EQ(latencies.requests().ended.count(), 7);
  EXPECT_EQ(latencies.requests().so_far.count(), 2);
  EXPECT_EQ(latencies.attempts().count(), 5);
}

TEST(RunLatencies, KeepTheWarmUpIfThereIsLittleElseBeforeTheOutage) {
  RunLatencies latencies;
  latencies.add_ok(TimePoint{} + 1s, 100ms, 100ms);
  latencies.add_ok(TimePoint{} + 6s, 100ms, 100ms);
  latencies.begin_phase(TimePoint{} + 9s);
  EXPECT_EQ(latencies.began_in(RunPhase::kBefore).ok, 2);
}

TEST(RunLatencies, SeparateAttemptsFromRequests) {
  RunLatencies latencies;
  latencies.add_ok(TimePoint{}, 100ms, 100ms);
  latencies.add_ok(TimePoint{}, 200ms, 5s);  // after a retry
  latencies.add_given_up(TimePoint{}, 20s);
  EXPECT_EQ(latencies.attempts().max(), 200ms);
  EXPECT_EQ(latencies.requests().max(), (TimeBound{.time = 20s, .or_more = false}));
  EXPECT_NEAR(to_seconds(*latencies.attempts().quantile(0.5)), 0.1, 0.0004);
  EXPECT_NEAR(to_seconds(latencies.requests().quantile(0.5)->time), 5, 0.02);
}

// 99 of 100 requests before the outage took 100 ms, and the timeout is 2 s.
TEST(RunLatencies, LeaveOutWhatIsUnderWayAndYoung) {
  const auto at = [](Duration time) { return TimePoint{} + time; };
  const auto ended = [&](Duration timeout, bool outage) {
    RunLatencies latencies;
    for (int i = 0; i < 100; ++i)
      latencies.add_ok(at(6s), i == 0 ? 5s : 100ms, i == 0 ? 5s : 100ms);
    if (outage) {
      latencies.begin_phase(at(30s));
      latencies.begin_phase(at(40s));
    }
    for (const Duration age : {50ms, 60ms, 350ms, 1500ms, 3000ms}) {
      latencies.add_unfinished(at(100s) - age, at(100s));
    }
    Counts counts{.ok = 100, .requests = 105, .failing = 4};
    latencies.end(timeout, counts);
    const auto phase = latencies.began_in(outage ? RunPhase::kAfter : RunPhase::kBefore);
    EXPECT_EQ(phase.times.so_far.count(), 5);  // their times count as before
    return std::pair(phase.unfinished, counts);
  };
  EXPECT_EQ(ended(2s, true).first, 3);
  EXPECT_EQ(ended(70ms, true).first, 3);
  EXPECT_EQ(ended(55ms, true).first, 4);
  EXPECT_EQ(ended(2s, false).first, 1);  // nothing is before an outage
  // At most 3 and 1 of those that are being retried are old.
  EXPECT_EQ(ended(2s, true).second.young, 1);
  EXPECT_EQ(ended(2s, false).second.young, 3);
  EXPECT_EQ(ended(2s, false).second.left_out(), 4);
  EXPECT_EQ(ended(2s, false).second.success_share(), 100.0 / 101);
}

// Of two kinds of clients each has its own timeout.
TEST(RunLatencies, AddUpWhatIsLeftOut) {
  RunLatencies sum;
  for (const Duration timeout : {1s, 3s}) {
    RunLatencies one;
    Counts counts;
    one.add_unfinished(TimePoint{} + 8s, TimePoint{} + 10s);
    one.end(timeout, counts);
    sum += one;
  }
  EXPECT_EQ(sum.began_in(RunPhase::kBefore).unfinished, 1);
}

}  // namespace
}  // namespace retrystorm
