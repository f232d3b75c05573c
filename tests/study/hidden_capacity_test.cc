#include "study/hidden_capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

HiddenCapacity find(const ScenarioOptions& scenario, const ReliefOptions& relief = {},
                    std::size_t seeds = 6, std::size_t threads = 1) {
  return find_hidden_capacity(scenario, relief, seeds, 1, threads, [] { return false; }).value();
}

ScenarioOptions two_workers() {
  ScenarioOptions scenario;
  scenario.service.capacity = Capacity::kWorkers;
  scenario.service.workers.workers = 2;  // 20 requests/s
  return scenario;
}

// While all attempts fail, L requests a second with n attempts each are n L. A queue that is served at
// m gets shorter if s n L < m, and then the service comes back: here at half the load. It must be a
// little less, so that the queue is empty in time. The queue grows by 20/s for 60 s, and has 256 from
// the freeze. For some seconds more, there are also attempts of requests from before the cut.
TEST(HiddenCapacity, IsTheLoadAtWhichTheQueueGetsShorter) {
  ScenarioOptions scenario = two_workers();
  scenario.workload.arrivals = Arrivals::kOpen;
  scenario.workload.rate = 10;
  scenario.workload.retry.limit.max_retries = 3;
  const HiddenCapacity found = find(scenario, {.after = 60s, .hold = 1h});
  EXPECT_EQ(found.stay_down, 6);
  EXPECT_EQ(found.never, 0);
  EXPECT_NEAR(found.share.value, 0.5 - 1500.0 / 3600 / 40, 3 * kReliefStep);
  EXPECT_NEAR(found.baseline_ok, 10, 0.7);

  // To be done in ten minutes, more capacity must be left for the queue.
  const HiddenCapacity sooner = find(scenario, {.after = 60s, .hold = 10min});
  EXPECT_NEAR(sooner.share.value, 0.5 - 1500.0 / 600 / 40, 3 * kReliefStep);
}

// There are only five seconds before the outage, so they are the baseline.
TEST(HiddenCapacity, MayHaveABaselineOfFiveSeconds) {
  ScenarioOptions scenario = two_workers();
  scenario.outage_at = 5s;
  scenario.workload.arrivals = Arrivals::kOpen;
  scenario.workload.rate = 10;
  scenario.workload.retry.limit.max_retries = 3;
  const HiddenCapacity found = find(scenario, {.after = 60s, .hold = 10min});
  EXPECT_EQ(found.stay_down, 6);
  EXPECT_NEAR(found.baseline_ok, 10, 2);
  EXPECT_NEAR(found.share.value, 0.5 - 1500.0 / 600 / 40, 3 * kReliefStep);
}

// N clients that make n attempts, each with the timeout T, with waits w between them, and then think for
// Z / s, send N n / (n T + (n - 1) w + Z / s) a second.
TEST(HiddenCapacity, CountsTheThinkTimesOfClientsThatGiveUp) {
  ScenarioOptions scenario = two_workers();
  scenario.workload.clients = 133;
  scenario.workload.retry.limit.max_retries = 3;
  const double cycle = 133.0 * 4 / 20;  // in which the service keeps up
  const double share = 10 / (cycle - (4 * 2 + 3 * 0.1));
  const HiddenCapacity found = find(scenario, {.after = 60s, .hold = 1h});
  EXPECT_EQ(found.stay_down, 6);
  EXPECT_NEAR(found.share.value, share, 4 * kReliefStep);
}

TEST(HiddenCapacity, IsNoneForClientsThatRetryForEver) {
  const HiddenCapacity found = find({}, {.after = 10s, .hold = 60s}, 2);
  EXPECT_EQ(found.stay_down, 2);
  EXPECT_EQ(found.never, 2);
  EXPECT_EQ(found.share.value, 0);
}

TEST(HiddenCapacity, IsTheWholeLoadIfTheServiceComesBackWithoutHelp) {
  ScenarioOptions scenario;
  scenario.workload.retry.limit.max_retries = 0;
  const HiddenCapacity found = find(scenario, {}, 2);
  EXPECT_EQ(found.stay_down, 0);
  EXPECT_EQ(found.thresholds.at(0).share, 1);
  EXPECT_EQ(found.thresholds.at(1).seed, 2);
}

TEST(HiddenCapacity, IsTheSameWithAnyNumberOfThreads) {
  ScenarioOptions scenario = two_workers();
  scenario.workload.arrivals = Arrivals::kOpen;
  scenario.workload.rate = 10;
  scenario.workload.retry.limit.max_retries = 3;
  const auto shares = [&](std::size_t threads) {
    std::vector<double> all;
    for (const Threshold& each : find(scenario, {}, 4, threads).thresholds) {
      all.push_back(each.share);
    }
    return all;
  };
  EXPECT_EQ(shares(1), shares(3));
}

TEST(HiddenCapacity, CutsTheLoadOnceTheServiceHadTimeToComeBack) {
  const Scenario cut = relieved({}, {.after = 45s, .hold = 2min}, 0.25, 7);
  EXPECT_EQ(cut.seed, 7);
  EXPECT_EQ(cut.length, 30s + 20s + 45s + 2min);
  ASSERT_FALSE(cut.changes.empty());
  EXPECT_EQ(cut.changes.back().t, 95s);
  EXPECT_EQ(cut.changes.back().load, 0.25);
}

}  // namespace
}  // namespace retrystorm
