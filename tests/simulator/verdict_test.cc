// The verdicts of whole runs, with healthy and collapsed services of several sizes.

#include "simulate/program.h"
#include "simulator/simulation.h"
#include "study/named_options.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

Recovery verdict_of(const ScenarioOptions& options, std::uint64_t seed) {
  return Simulation(make_scenario(options, seed), {}).run().summary.recovery;
}

TEST(SimulatedVerdict, HealthyFleetsAreRecoveredAtOnce) {
  // A freeze of a millisecond has no effect. After one of a second, all answers are late, but in time.
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
  auto options = options_from<SimulatorOptions>("clients = 20\noutage-for = 1s\nobserve = 24h\n");
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    EXPECT_EQ(verdict_of(options, seed).verdict, Verdict::kRecovered) << seed;
  }
}

TEST(SimulatedVerdict, CollapsesAreCollapses) {
  // With the defaults, and with a tenth and a fiftieth of everything.
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

// A queue without a bound, of which a freeze leaves more than can be answered in time.
Verdict with_workers(NamedOptions options, const char* rate, std::uint64_t seed) {
  options.merge(NamedOptions{{"service", "workers"},
                             {"arrivals", "open"},
                             {"rate", rate},
                             {"backlog", "4096"},
                             {"growth", "exponential"},
                             {"backoff-base", "500ms"},
                             {"jitter", "full"},
                             {"max-attempts", "3"},
                             {"retry-budget", "10%"},
                             {"deadline", "10s"}});
  return verdict_of(retrystorm::scenario_of(options), seed).verdict;
}

// 200 requests/s less the attempts: 170/s with a budget of a tenth leave 13/s, so 3,740 take 4m48s. With 800
// requests/s, 700/s leave 30/s, so the 4,096 of the accept queue take at least 2m17s.
TEST(SimulatedVerdict, AQueueThatDrainsIsNoCollapse) {
  const NamedOptions larger{{"workers", "64"}, {"service-time", "lognormal:80ms"}};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(with_workers({}, "170", seed), Verdict::kRecovering) << seed;
    EXPECT_EQ(with_workers({{"observe", "6m"}}, "170", seed), Verdict::kRecovered) << seed;
    EXPECT_EQ(with_workers(larger, "700", seed), Verdict::kRecovering) << seed;
  }
}

// 190/s with a budget of a tenth are 209/s: the queue grows by 9/s. Without a budget 3 x 170 = 510/s come.
TEST(SimulatedVerdict, AQueueThatGrowsIsACollapse) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(with_workers({}, "190", seed), Verdict::kCollapsed) << seed;
    EXPECT_EQ(with_workers({{"retry-budget", "none"}}, "170", seed), Verdict::kCollapsed) << seed;
  }
}

// Full at all times: what is turned away comes again, and what waits is late.
TEST(SimulatedVerdict, AQueueThatStaysFullIsACollapse) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(with_workers({{"retry-budget", "none"}, {"queue-length", "1000"}}, "170", seed),
              Verdict::kCollapsed)
        << seed;
  }
}

}  // namespace
}  // namespace retrystorm
