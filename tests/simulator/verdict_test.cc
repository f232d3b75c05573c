// The verdict on whole runs: of fleets of every size, healthy and not.
#include <gtest/gtest.h>

#include "simulator/options.h"
#include "simulator/simulation.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

Recovery verdict_of(const SimulatorOptions& options, std::uint64_t seed) {
  return Simulation(make_scenario(options, seed), {}).run().summary.recovery;
}

TEST(SimulatedVerdict, HealthyFleetsAreRecoveredAtOnce) {
  // A thousandth of a second harms nobody; after a second all are answered late, but in time.
  for (const std::size_t clients : {20u, 50u, 100u, 1000u}) {
    for (const Duration freeze : {Duration(1ms), Duration(1s)}) {
      SimulatorOptions options;
      options.workload.clients = clients;
      options.outage_for = freeze;
      constexpr int kRuns = 200;
      int recovered = 0, at_once = 0;
      for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
        const Recovery result = verdict_of(options, seed);
        recovered += result.verdict == Verdict::kRecovered ? 1 : 0;
        at_once += result.time_to_recovery == Duration::zero() ? 1 : 0;
      }
      EXPECT_GE(recovered, 0.99 * kRuns) << clients << " clients, " << format_duration(freeze);
      EXPECT_GE(at_once, 0.99 * kRuns) << clients << " clients, " << format_duration(freeze);
    }
  }
}

TEST(SimulatedVerdict, HealthyFleetIsNotCalledRelapsedInADay) {
  SimulatorOptions options;
  options.workload.clients = 20;
  options.outage_for = 1s;
  options.observe = 24h;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_EQ(verdict_of(options, seed).verdict, Verdict::kRecovered) << seed;
  }
}

TEST(SimulatedVerdict, CollapsesAreCollapses) {
  // As many as the defaults, and a tenth and a fiftieth of it all.
  for (const double scale : {1.0, 0.1, 0.02}) {
    SimulatorOptions options;
    options.scale = scale;
    options.outage_for = 60s;
    options.observe = 120s;
    options.service.backlog = 1024;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      EXPECT_EQ(verdict_of(options, seed).verdict, Verdict::kCollapsed) << scale << ' ' << seed;
    }
  }
}

TEST(SimulatedVerdict, BackoffSavesTheService) {
  SimulatorOptions options;
  options.workload.retry = retry_settings("exponential");
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(verdict_of(options, seed).verdict, Verdict::kRecovered) << seed;
  }
}

}  // namespace
}  // namespace retrystorm
