#include "study/evaluator.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

ScenarioOptions small(std::size_t clients = 20) {
  ScenarioOptions options;
  options.workload.clients = clients;
  options.outage_at = 10s;
  options.outage_for = 2s;
  options.observe = 20s;
  return options;
}

std::vector<double> amplifications(const std::vector<RunResult>& results) {
  std::vector<double> all;
  for (const RunResult& each : results) all.push_back(each.amplification);
  return all;
}

// A quarter of the requests were still failing at the end of a collapse. They began in the first
// seconds of the outage, 80 s before the end.
TEST(RunResult, CountsRequestsThatNeverEndWithTheirTimeSoFar) {
  const auto frozen_for = [](Duration time) {
    ScenarioOptions options;
    options.outage_for = time;
    return result_of(Simulation(make_scenario(options, 1), {}).run());
  };
  const RunResult down = frozen_for(20s), back = frozen_for(1s);
  ASSERT_EQ(down.verdict, Verdict::kCollapsed);
  EXPECT_LT(down.request_p50->time, 200ms);
  EXPECT_FALSE(down.request_p50->or_more);
  EXPECT_TRUE(down.request_p99->or_more);
  EXPECT_GT(down.request_p99->time, 70s);
  EXPECT_LT(down.request_p99->time, 81s);
  ASSERT_EQ(back.verdict, Verdict::kRecovered);
  EXPECT_FALSE(back.request_p99->or_more);
}

TEST(Evaluator, CountsUpTheSeeds) {
  EXPECT_THAT(seeds_from(7, 3), ElementsAre(7, 8, 9));
}

TEST(Evaluator, GivesTheResultsInTheOrderOfTheSeeds) {
  const Scenario scenario = make_scenario(small(), 0);
  std::vector<RunResult> expected;
  for (const std::uint64_t seed : {5, 2, 9, 2}) {
    expected.push_back(result_of(Simulation(make_scenario(small(), seed), {}).run()));
  }
  for (const std::size_t threads : {1, 3}) {
    const auto results = Evaluator(threads).run(scenario, {5, 2, 9, 2});
    EXPECT_EQ(amplifications(results), amplifications(expected)) << threads;
  }
}

TEST(Evaluator, RunsEachCellWithAllSeedsAndMakesItsScenarioOnce) {
  const Seeds seeds = seeds_from(1, 4);
  std::atomic<int> made = 0;
  std::map<std::size_t, std::vector<RunResult>> cells;
  std::vector<RunResult> ran;
  const bool complete = Evaluator(3).run(
      3,
      [&](std::size_t cell) {
        ++made;
        return make_scenario(small(10 + cell), 0);
      },
      seeds,
      [&](std::size_t cell, const std::vector<RunResult>& results) { cells[cell] = results; },
      [&](const RunResult& run) { ran.push_back(run); });
  EXPECT_TRUE(complete);
  EXPECT_EQ(made, 3);
  EXPECT_EQ(ran.size(), 12u);
  ASSERT_EQ(cells.size(), 3);
  for (const auto& [cell, results] : cells) {
    const auto alone = Evaluator(1).run(make_scenario(small(10 + cell), 0), seeds);
    EXPECT_EQ(amplifications(results), amplifications(alone)) << cell;
  }
}

// Clients that neither think nor wait ask again 100 us after each refusal.
TEST(Evaluator, CutsRunsThatFailWithoutEnd) {
  ScenarioOptions options = small(16);
  options.workload.retry = retry_settings("none");
  options.workload.think_time = 0s;
  options.service.capacity = Capacity::kWorkers;
  options.service.rate_limit.rate = 10;
  options.outage_at = 20s;
  const Scenario scenario = make_scenario(options, 1);
  const SimulationResult result = Simulation(scenario, {}).run();
  ASSERT_TRUE(result.cut);
  EXPECT_EQ(result.summary.recovery.verdict, Verdict::kUndecided);
  EXPECT_TRUE(says(result.summary.recovery.causes, "cut"));
  // Two million failures, and 100 for each client and second. Ten requests a second are served, for 100 ms each, so
  // that 15 of the 16 clients fail 10,000 times a second.
  const double failures = 2e6 + 16 * 100 * to_seconds(scenario.length);
  EXPECT_NEAR(static_cast<double>(result.summary.counts.failures()), failures, 4096);
  EXPECT_NEAR(to_seconds(result.summary.elapsed), failures / 150'000, 0.1);

  std::atomic<int> made = 0;
  const auto runs = Evaluator(2).run(scenario, seeds_from(1, 20), [&](std::size_t) {
    ++made;
    return SimulationObservers{};
  });
  EXPECT_LE(made, 3);
  const CellResult cell = summarize(runs);
  EXPECT_EQ(cell.cut_runs, 20);
  EXPECT_EQ(cell.undecided, 20);
}

TEST(Evaluator, EndsEarlyWhenItIsStopped) {
  std::atomic<bool> stop = false;
  std::size_t finished = 0;
  const Evaluator evaluator(2, [&] { return stop.load(); });
  const bool complete = evaluator.run(
      100, [](std::size_t) { return make_scenario(small(), 0); }, seeds_from(1, 2),
      [&](std::size_t, const std::vector<RunResult>&) {
        ++finished;
        stop = true;
      });
  EXPECT_FALSE(complete);
  EXPECT_EQ(finished, 1);
  EXPECT_TRUE(evaluator.run(make_scenario(small(), 0), seeds_from(1, 2)).empty());
}

TEST(Evaluator, PassesOnExceptions) {
  const auto refuse = [](std::size_t cell) -> Scenario {
    if (cell == 2) throw std::invalid_argument("no such cell");
    return make_scenario(small(), 0);
  };
  EXPECT_THROW(Evaluator(2).run(9, refuse, seeds_from(1, 2),
                                [](std::size_t, const std::vector<RunResult>&) {}),
               std::invalid_argument);
}

}  // namespace
}  // namespace retrystorm
