// A server that accepts a connection only when a worker is free, which keeps it until it is closed.
#include "common/output/line_report.h"
#include "model/run/outlook.h"
#include "simulator/scenario_options.h"
#include "simulator/simulation.h"
#include "simulator/syn_repeats.h"
#include "tests/support/refusal.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

struct AcceptsRun final : RunObserver, ServiceObserver {
  explicit AcceptsRun(const std::string& settings, std::uint64_t seed = 1) {
    LineReport client_lines(out);
    ServiceLineReport service_lines(out, ServiceLineReport::Stamp::kVirtual);
    ScenarioOptions options = options_from(settings);
    options.server_report_interval = 1s;
    result = Simulation(make_scenario(options, seed),
                        {.run = {this, &client_lines}, .service = {this, &service_lines}})
                 .run();
  }
  void on_interval(const RunInterval& interval) override { clients.push_back(interval); }
  void on_interval(Duration, Duration, const ServerInterval& interval) override {
    service.push_back(interval);
  }

  std::ostringstream out;
  SimulationResult result;
  std::vector<RunInterval> clients;
  std::vector<ServerInterval> service;
};

bool is_down(const SimulationResult& result) {
  const Verdict verdict = result.summary.recovery.verdict;
  return verdict == Verdict::kCollapsed || verdict == Verdict::kRelapsed;
}

int runs_down(const std::string& settings, int runs) {
  int down = 0;
  for (int seed = 1; seed <= runs; ++seed) {
    const auto number = static_cast<std::uint64_t>(seed);
    down += is_down(Simulation(make_scenario(options_from(settings), number), {}).run());
  }
  return down;
}

// The service of which two real Python servers differ in the same way (threads that call accept, and an executor).
const std::string kThreads =
    "service = workers\nworkers = 32\nservice-time = exponential:50ms\narrivals = open\nrate = 400\n"
    "max-attempts = 3\ngrowth = exponential\nbackoff-base = 200ms\ntimeout = 1s\nbacklog = 511\n"
    "outage-for = 10s\n";

TEST(Accepts, DecidesWhetherAServiceComesBack) {
  EXPECT_EQ(runs_down(kThreads + "accepts = when-free\n", 40), 0);
  EXPECT_EQ(runs_down(kThreads + "accepts = all\n", 10), 10);
  EXPECT_EQ(runs_down(kThreads + "max-connections = 64\n", 10), 0);
  EXPECT_EQ(runs_down(kThreads + "max-connections = 500\n", 10), 10);
}

// Twice what it serves waits for ever, but for those that come while a worker becomes free each tenth time: by then one has
// come in 1 - e^-2 of the cases (Poisson).
TEST(QueueOrder, ThatIsUnfairServesSomeInTime) {
  double ok = 0, intervals = 0;
  constexpr int kRuns = 10, kFrom = 20;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    const AcceptsRun run(
        "service = workers\nworkers = 1\nservice-time = fixed:10ms\narrivals = open\nrate = 200\n"
        "strategy = none\ntimeout = 1s\nqueue-order = unfair:0.1\noutage-for = 0s\nobserve = 60s\n",
        seed);
    for (const RunInterval& each : run.clients) {
      if (each.t <= 1s * kFrom) continue;
      ok += each.rates.ok;
      ++intervals;
    }
  }
  EXPECT_NEAR(ok / intervals, 10 * (1 - std::exp(-2)), 0.2);
}

TEST(Accepts, AsManyConnectionsAsWorkers) {
  for (const char* more :
       {"", "outage = drop\n", "outage = slow:5\n", "at = 35s restart\nabandoned = skip\n",
        "strategy = fixed\n", "retry-budget = 10%\n", "shed-above = 20\n", "rejection-cost = 5ms\n",
        "abandoned = cancel\n", "arrivals = closed\nlambda = 2s\n",
        // Fewer than the workers, so that none is closed for others.
        "connections = keep-alive\nprocesses = 2\npool-size = 10\n"}) {
    const std::string settings = kThreads + more;
    EXPECT_EQ(AcceptsRun(settings + "accepts = when-free\n").out.str(),
              AcceptsRun(settings + "max-connections = 32\n").out.str())
        << more;
  }
}

// The workers are always too few, so all are busy.
TEST(Accepts, FollowsTheNumberOfWorkers) {
  const std::string settings =
      "service = workers\nworkers = 10\nservice-time = 100ms\naccepts = when-free\narrivals = open\n"
      "rate = 300\nstrategy = none\nbacklog = 100\noutage-at = 30s\n"
      "observe = 5s\n";
  struct Step {
    std::string change;
    std::size_t workers;
  };
  for (const auto& [change, workers] :
       {Step{"outage-for = 0s\nat = 10s set workers=4\n", 4},
        Step{"outage-for = 0s\nat = 10s set workers=25\n", 25},
        Step{"outage-for = 0s\ncapacity = 10s 0.3\n", 3},
        Step{"outage-at = 10s\noutage = capacity:0.2\noutage-for = 25s\n", 2}}) {
    const AcceptsRun run(settings + change);
    ASSERT_GE(run.service.size(), 30u) << change;
    for (const std::size_t at : {5, 20, 28}) {
      const ServerInterval& interval = run.service[at];
      const std::size_t now = at < 10 ? 10 : workers;
      EXPECT_EQ(interval.workers->busy, now) << change << at;
      EXPECT_EQ(interval.concurrency, now) << change << at;
      EXPECT_EQ(interval.workers->waiting, 0u) << change << at;
    }
  }
}

// Eight clients with a connection each, and three workers. Three have theirs for good. The others are never accepted.
TEST(Accepts, LeavesAWorkerToItsConnection) {
  const std::string settings =
      "service = workers\nworkers = 3\nservice-time = 100ms\naccepts = when-free\nconnections = keep-alive\n"
      "clients = 8\nclients-per-process = 1\nlambda = 400ms\ntimeout = 900ms\nstrategy = none\n"
      "outage-for = 0s\noutage-at = 100s\nobserve = 0s\n";
  const AcceptsRun run(settings);
  const double seconds = to_seconds(run.result.summary.elapsed);
  // Each thinks for 400 ms and is served for 100 ms.
  EXPECT_NEAR(static_cast<double>(run.result.summary.counts.ok) / seconds, 3 / 0.5, 0.4);
  EXPECT_EQ(run.clients.back().clients.kept->idle + run.service.back().concurrency, 3u);
  EXPECT_EQ(run.result.peak_concurrency, 3u);
  EXPECT_GT(run.result.summary.counts.timed_out, 100u);
  EXPECT_TRUE(says(look_ahead(options_from(settings)).warnings, "connections-hold-workers"));
  // A server that accepts all serves all. One whose idle connections end lets others in.
  EXPECT_EQ(AcceptsRun(settings + "accepts = all\n").result.summary.counts.timed_out, 0u);
  const AcceptsRun ends(settings + "server-idle = 50ms\n");
  EXPECT_LT(ends.result.summary.counts.timed_out, run.result.summary.counts.timed_out / 10);
}

// A service in the middle of a chain accepts as many as it has workers, as one alone does; another one all.
TEST(Accepts, IsASettingOfEachService) {
  const std::string chain =
      "chain = api 8x5ms > db 4x40ms\narrivals = open\nrate = 300\nstrategy = none\nbacklog = 20\n"
      "outage-for = 0s\noutage-at = 20s\nobserve = 0s\n";
  EXPECT_EQ(AcceptsRun(chain + "accepts = when-free\n").result.peak_concurrency, 8u);
  EXPECT_GT(AcceptsRun(chain).result.peak_concurrency, 100u);
}

TEST(Accepts, HasNoEffectOnACurveOrOnSharedConnections) {
  const std::string when_free = "accepts = when-free\n", workers = "service = workers\n",
                    shared = workers + "connections = multiplexed\n";
  const auto unused = [](const std::string& settings) {
    return text_of(unused_options(options_from(settings)));
  };
  test::expect_refusals(
      unused, {{workers + when_free, ""},
               {when_free, "accepts has no effect without --service=workers"},
               {shared + when_free, "accepts has no effect with --connections=multiplexed"},
               {workers + when_free + "queue-length = 5\n",
                "queue-length has no effect with --accepts=when-free"}});
  EXPECT_EQ(AcceptsRun(shared + when_free).out.str(), AcceptsRun(shared).out.str());
}

// The times, in seconds of the kernel, at which a SYN is repeated if it is dropped every time. At the last
// one the kernel gives up.
std::vector<std::int64_t> schedule(std::size_t linear) {
  SynRepeats repeats(linear);
  std::vector<std::int64_t> times;
  repeats.drop(TimePoint{}, {7, 1}, 0);
  while (true) {
    const auto repeat = repeats.take();
    times.push_back((repeat.time - TimePoint{}) / SynRepeats::kSecond);
    if (repeat.last) return times;
    repeats.drop(repeat.time, repeat.attempt, repeat.sent + 1);
  }
}

// According to Linux's documentation, with 6 retries, the last is sent at 67 s and the end is at 131 s.
// Before 6.5 these were 63 and 127 s.
TEST(SynRepeats, AreThoseOfTheKernel) {
  EXPECT_THAT(schedule(4), ElementsAre(1, 2, 3, 4, 5, 7, 11, 19, 35, 67, 131));
  EXPECT_THAT(schedule(0), ElementsAre(1, 3, 7, 15, 31, 63, 127));
}

// The client no longer waits at the second one, at 2.02 s.
TEST(SynRepeats, EndWithThePatienceOfTheirClients) {
  SynRepeats repeats(4, 2s);
  repeats.drop(TimePoint{}, {7, 1}, 0);
  EXPECT_EQ(repeats.next(), TimePoint{1010ms});
  const auto repeat = repeats.take();
  EXPECT_FALSE(repeat.last);
  repeats.drop(repeat.time, repeat.attempt, repeat.sent + 1);
  EXPECT_EQ(repeats.next(), TimePoint::max());
}

TEST(SynRepeats, HaveALastOneWithinATimeout) {
  const auto last = [](std::size_t linear, Duration timeout) {
    return SynRepeats(linear, timeout).last() / SynRepeats::kSecond;
  };
  EXPECT_EQ(last(4, 1s), 0);
  EXPECT_EQ(last(4, 1050ms), 1);
  EXPECT_EQ(last(4, 2050ms), 2);
  EXPECT_EQ(last(0, 2050ms), 1);
  EXPECT_EQ(last(4, 30s), 19);
  EXPECT_EQ(last(0, 30s), 15);
}

TEST(SynRepeats, ComeInTheOrderOfTheirTimes) {
  SynRepeats repeats(0);
  EXPECT_EQ(repeats.next(), TimePoint::max());
  repeats.drop(TimePoint{}, {1, 1}, 1);  // after two seconds
  repeats.drop(TimePoint{}, {2, 1}, 0);
  repeats.drop(TimePoint{500ms}, {3, 1}, 0);
  EXPECT_EQ(repeats.next(), TimePoint{1010ms});
  EXPECT_EQ(repeats.take().attempt.client, 2u);
  EXPECT_EQ(repeats.take().attempt.client, 3u);
  EXPECT_EQ(repeats.next(), TimePoint{2020ms});
  EXPECT_EQ(repeats.take().attempt.client, 1u);
  EXPECT_EQ(repeats.next(), TimePoint::max());
}

}  // namespace
}  // namespace retrystorm
