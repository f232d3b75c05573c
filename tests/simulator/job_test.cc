// Workers that start, do their tasks and leave, with a service whose capacity follows its use.

#include "simulator/scenario_options.h"
#include "simulator/simulation.h"
#include "tests/support/facts.h"
#include "tests/support/refusal.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// 100 requests a second are admitted, and each is served in 10 ms.
const std::string kTable =
    "arrivals = job\nbase-delay = 10ms\nlimit = 100000\nrate-limit = 100\n"
    "throttle-status = 400\nhint = none\n";

struct JobWatch final : RunObserver {
  std::vector<RunInterval> intervals;
  void on_interval(const RunInterval& interval) override { intervals.push_back(interval); }
};

SimulationResult run_job(const std::string& settings, JobWatch* watch = nullptr) {
  ScenarioOptions options = options_from(settings);
  refuse(unused_options(options));
  SimulationObservers observers;
  if (watch != nullptr) observers.run.push_back(watch);
  return Simulation(make_scenario(options, 1), observers).run();
}

// Without a limit: each call takes 10 ms and a turnaround, one after the other.
TEST(SimulatedJob, EndsWithItsLastCall) {
  const SimulationResult result = run_job(
      "arrivals = job\nbase-delay = 10ms\nclients = 3\ntasks = 7\ncalls = 5\n"
      "workers-start = 0s\n");
  const JobResult& job = result.summary.job.value();
  // Two workers do two tasks, and one three.
  EXPECT_NEAR(to_seconds(job.makespan.value()), 15 * 0.0101, 1e-3);
  EXPECT_EQ(job.makespan, result.summary.elapsed);
  EXPECT_EQ(job.done, 35u);
  EXPECT_EQ(result.summary.counts.ok, 35u);
  EXPECT_EQ(result.summary.counts.requests, 35u);
  EXPECT_EQ(result.summary.recovery.verdict, Verdict::kNoOutage);
  EXPECT_FALSE(result.summary.capacity.has_value());
}

TEST(SimulatedJob, ABurstIsAJobOfOneCallEach) {
  const auto all = [](const std::string& settings) {
    ScenarioOptions options;
    OptionList list;
    declare_options(list, options);
    list.apply(settings);
    std::string text;
    for (const Option& each : list.all()) text += each.name + '=' + each.get() + '\n';
    return text;
  };
  EXPECT_EQ(all("arrivals = burst:70\n"),
            all("clients = 70\narrivals = job\ntasks = 70\ncalls = 1\nworkers-start = 0s\n"));
  const SimulationResult result =
      run_job("arrivals = burst:70\nservice = workers\nworkers = 10\nservice-time = 100ms\n");
  EXPECT_EQ(result.summary.counts.ok, 70u);
  EXPECT_NEAR(to_seconds(result.summary.job->makespan.value()), 0.7, 1e-3);
  for (const char* wrong : {"arrivals = burst", "arrivals = burst:0", "arrivals = burst:x",
                            "clients = 3\narrivals = burst:4"}) {
    EXPECT_THROW(all(wrong), std::invalid_argument) << wrong;
  }
}

TEST(SimulatedJob, WorkersComeAndGo) {
  JobWatch watch;
  run_job(
      "arrivals = job\nbase-delay = 100ms\nclients = 4\ntasks = 4\ncalls = 100\n"
      "workers-start = 5s\n",
      &watch);
  std::vector<std::size_t> workers;
  for (const RunInterval& each : watch.intervals) {
    const ClientStates& states = each.clients;
    workers.push_back(states.thinking + states.in_flight + states.waiting_to_retry);
    EXPECT_EQ(states.mean_pause, 100us);  // the turnaround: they wait for nothing else
  }
  // One worker starts every five seconds, and counts from then on. A task takes ten seconds. The first
  // worker has finished its task before a fourth one starts.
  EXPECT_EQ(workers, (std::vector<std::size_t>{1, 2, 3, 2}));
}

// A call that is given up is counted, and the worker continues with the next one.
TEST(SimulatedJob, ContinuesAfterACallThatWasGivenUp) {
  const SimulationResult result = run_job(
      kTable + "clients = 50\ntasks = 50\ncalls = 100\nworkers-start = 3s\nstrategy = none\n");
  const Counts& counts = result.summary.counts;
  EXPECT_EQ(result.summary.job->done, 5000u);
  EXPECT_EQ(counts.ok + counts.gave_up(), 5000u);
  EXPECT_GT(counts.gave_up(), 0u);
  EXPECT_EQ(counts.throttled, counts.errors);
  EXPECT_EQ(result.summary.capacity->use.used, counts.ok);
}

TEST(SimulatedJob, HasAnOutageWhenAskedFor) {
  const std::string job =
      "arrivals = job\nclients = 5\ntasks = 5\ncalls = 1000\nworkers-start = 3s\n";
  const SimulationResult frozen = run_job(job + "outage-at = 20s\noutage-for = 10s\n");
  EXPECT_NE(frozen.summary.recovery.verdict, Verdict::kNoOutage);
  EXPECT_GT(frozen.summary.counts.timed_out, 0u);
  EXPECT_GT(frozen.summary.elapsed, run_job(job).summary.elapsed);
}

// 1,000 calls of 10 ms, one after the other, take 10 s.
TEST(SimulatedJob, HasNoVerdictIfItIsDoneBeforeItsOutage) {
  const std::string job =
      "arrivals = job\nbase-delay = 10ms\nclients = 5\ntasks = 5\ncalls = 1000\n"
      "workers-start = 0s\noutage-for = 1s\noutage-at = ";
  const SimulationResult before = run_job(job + "20s\n");
  EXPECT_EQ(before.summary.recovery.verdict, Verdict::kUndecided);
  EXPECT_EQ(test::facts(before.summary.recovery.causes), "job-done-before");
  const SimulationResult after = run_job(job + "5s\n");
  EXPECT_FALSE(says(after.summary.recovery.causes, "job-done-before"));
}

TEST(SimulatedJob, RefusesOptionsThatHaveNoEffect) {
  const std::string job = "arrivals = job\n", with = " has no effect with --arrivals=job",
                    without = " has no effect without --arrivals=job";
  test::expect_refusals([](const std::string& settings) { run_job(settings); },
                        {{job + "lambda = 3s\n", "lambda" + with},
                         {job + "observe = 3s\n", "observe" + with},
                         // Its workers call as fast as they can, so more load is not possible.
                         {job + "at = 3s restart; 5s load 2\n", "at '5s load 2'" + with},
                         {job + "outage-for = 3s\noutage = load:8\n", "outage load:8" + with},
                         {"tasks = 3\n", "tasks" + without},
                         {"workers-start = 7s\n", "workers-start" + without},
                         {"time-limit = 3s\n", "time-limit" + without},
                         {job + "tasks = 0\n", "tasks"}});
}

}  // namespace
}  // namespace retrystorm
