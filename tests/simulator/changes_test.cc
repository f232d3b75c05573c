// Outages and actions in a simulated run.

#include "simulate/program.h"
#include "simulator/simulation.h"
#include "tests/support/facts.h"
#include "tests/support/refusal.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

struct Recording final : RunObserver {
  std::vector<RunInterval> intervals;
  std::vector<std::string> events;
  void on_interval(const RunInterval& interval) override { intervals.push_back(interval); }
  void on_outage(Duration t, OutageEvent event, const std::string& what) override {
    events.push_back(format_duration(t) + (event == OutageEvent::kBegin ? " " : " end of ") + what);
  }
  void on_action(Duration t, const std::string& what) override {
    events.push_back(format_duration(t) + ' ' + what);
  }
};

SimulatorOptions with(const std::string& settings) {
  return options_from<SimulatorOptions>(settings);
}

std::string line(const std::string& name, const std::string& value) {
  return name + " = " + value + '\n';
}

// Why the option has no effect; empty if it has one.
std::string why_unused(const std::string& settings, const std::string& name) {
  return unused_options(with(settings))[name];
}

// A run of 30 s, 20 s of outage and 60 s.
TEST(Timeline, RefusesWhatIsAfterTheEnd) {
  for (const auto& [name, late, in_time] :
       {std::tuple("at", "110s load 0.3", "109s load 0.3"),
        std::tuple("fault", "2m-3m slow:3", "100s-3m slow:3"),
        std::tuple("capacity", "0s 1; 2m 0.5", "0s 1; 90s..150s 0.5")}) {
    EXPECT_THAT(why_unused(line(name, late), name), HasSubstr("1m50s (--observe)"));
    EXPECT_EQ(why_unused(line(name, in_time), name), "");
    EXPECT_EQ(why_unused(line(name, late) + "observe = 5m\n", name), "");
  }
  // One that is in time is no fault, where examples of others would be too late.
  const ScenarioOptions brief =
      with("at = 20s load 0.5\noutage-at = 10s\noutage-for = 5s\nobserve = 20s\n");
  EXPECT_FALSE(unused_options(brief, {"at"}).contains("at"));
}

struct RecordedRun {
  Recording recording;
  SimulationResult result;
};

RecordedRun run(const SimulatorOptions& options, std::uint64_t seed = 1) {
  RecordedRun run;
  run.result = Simulation(make_scenario(options, seed), {.run = {&run.recording}}).run();
  return run;
}

double ok_in_window(const RecordedRun& run, std::size_t window) {
  return run.recording.intervals.at(window).rates.ok;
}

TEST(Changes, AreReportedWithTheOutage) {
  const RecordedRun recorded = run(
      with("outage = slow:3\noutage-at = 10s\noutage-for = 10s\nat = 20s restart; 15s load 0.5\n"
           "capacity = 1s..2s 2\n"));
  EXPECT_THAT(recorded.recording.events,
              ElementsAre("1.05s capacity 1..2 until 2s", "10s slow:3", "15s load 0.5",
                          "20s end of slow:3", "20s restart"));
  EXPECT_EQ(recorded.result.summary.outage, "slow:3");
}

// A tenth fails by itself, and of the others a half: 55 %; in the fault, of the others a half again: 77.5 %.
TEST(Outage, OfErrorsAddsToOtherErrors) {
  const RecordedRun failing = run(
      with("strategy = none\narrivals = open\nrate = 1000\nlimit = 1000000\nerror-share = 0.1\n"
           "outage = errors:0.5\nfault = 60s-110s errors:0.5\noutage-at = 10s\noutage-for = 100s\n"
           "observe = 20s\n"));
  const auto errors_in = [&failing](std::size_t window) {
    return failing.recording.intervals.at(window).rates.errors;
  };
  const double sigma = std::sqrt(1000. / 5);
  EXPECT_NEAR(errors_in(1), 100, 4 * sigma);
  EXPECT_NEAR(errors_in(8), 550, 4 * sigma);
  EXPECT_NEAR(errors_in(18), 775, 4 * sigma);
  EXPECT_NEAR(errors_in(24), 100, 4 * sigma);
}

TEST(Outage, OfAThrottleNeverLiftsAnotherLimit) {
  const RecordedRun throttled =
      run(with("strategy = none\narrivals = open\nrate = 1000\nlimit = 1000000\nrate-limit = 50\n"
               "outage = throttle:200\nfault = 60s-80s throttle:20\noutage-at = 10s\n"
               "outage-for = 100s\nobserve = 20s\n"));
  EXPECT_NEAR(ok_in_window(throttled, 8), 50, 0.21);
  EXPECT_NEAR(ok_in_window(throttled, 14), 20, 0.21);
  EXPECT_NEAR(ok_in_window(throttled, 20), 50, 0.21);
}

TEST(Outage, ThatChangesNothingIsRefused) {
  for (const std::string outage : {"slow:1", "errors:0", "load:1", "capacity:1"}) {
    EXPECT_NE(why_unused(line("outage", outage), "outage"), "") << outage;
    EXPECT_EQ(why_unused(line("outage", outage) + "outage-for = 0s\n", "fault"), "") << outage;
    EXPECT_NE(why_unused("fault = 60s-70s " + outage + '\n', "fault"), "") << outage;
  }
  EXPECT_EQ(why_unused("outage = slow:1.5\n", "outage"), "");
}

TEST(Hint, HasNoEffectWhereNothingIsTurnedAway) {
  const auto unused = [](const std::string& settings) {
    return why_unused(settings + "hint = fixed\nhint-for = 10s\n", "hint");
  };
  EXPECT_NE(unused(""), "");
  EXPECT_NE(unused("error-share = 0.1\nerror-status = 500\n"), "");
  EXPECT_EQ(unused("error-share = 0.1\nerror-status = 429\n"), "");
  EXPECT_EQ(unused("at = 60s set shed-above=100\n"), "");
  // What it says names each that has hints.
  const std::string why = unused("outage = errors:1:500\n");
  test::expect_refusals(
      [&](const std::string& settings) {
        EXPECT_EQ(unused("service = workers\n" + settings), "");
        return why;
      },
      {{"rate-limit = 50\n", "--rate-limit"},
       {"shed-above = 100\n", "--shed-above"},
       {"queue-length = 10\n", "--queue-length"},
       {"queue-drop = age:1s\n", "--queue-drop"},
       {"error-share = 0.1\n", "--error-share"},
       {"outage = throttle:50\n", "--outage=throttle"},
       {"outage = errors:1:429\n", "errors of 429 or 503"},
       {"outage = errors:1:503\n", "--outage=errors:SHARE:503"}});
}

// A fault of 3 s after the outage, and a load that the user cuts: neither is a relapse.
TEST(Verdict, IsAboutTheOutage) {
  const std::string last = "not-judged-since(what=";
  for (const auto& [change, cause] :
       {std::pair("fault = 80s-83s errors:1\n", std::string()),
        {"at = 80s load 0.2\n", ""},
        {"at = 40s load 0.5\n", ""},
        {"capacity = 60s 0.5; 80s..100s 1\n", ""},
        {"at = 80s set error-share=1\n", last + "set error-share=1, at=1:20)"},
        {"capacity = 80s 0.3\n", last + "capacity 0.3, at=1:20)"}}) {
    const Recovery found =
        run(with(
                "service = workers\narrivals = open\nrate = 100\nmax-attempts = 2\nqueue-length = 100\n"
                "outage-for = 5s\nobserve = 2m\n" +
                std::string(change)))
            .result.summary.recovery;
    EXPECT_EQ(found.verdict, Verdict::kRecovered) << change;
    if (!cause.empty()) {
      EXPECT_EQ(test::facts(found.causes.back()), cause);
    }
  }
}

// The service does 100/s, and is asked for 50/s, and then for half as many more, or for three times as many.
TEST(Verdict, IsAboutMoreLoadWhereThereIsNoOtherOutage) {
  const auto recovery = [](const std::string& at) {
    return run(with(
                   "service = workers\nworkers = 10\nservice-time = 100ms\narrivals = open\nrate = 50\n"
                   "strategy = none\nobserve = 2m\nat = " +
                   at + "\n"))
        .result.summary.recovery;
  };
  EXPECT_EQ(recovery("40s load 1.5").verdict, Verdict::kRecovered);
  EXPECT_EQ(recovery("40s load 3").verdict, Verdict::kCollapsed);
  // 20 s leave a queue of 1,000, of which each second takes 50.
  const Recovery peak = recovery("40s load 3; 60s load 1");
  EXPECT_EQ(peak.verdict, Verdict::kRecovered);
  EXPECT_NEAR(to_seconds(peak.time_to_recovery.value()), 20, 5);
}

// 3,000 wait after the outage, in the kernel, and 50 fewer each second.
TEST(Verdict, SeesTheQueueOfAServiceThatAcceptsWhenItIsFree) {
  const Recovery found =
      run(with("service = workers\nworkers = 10\nservice-time = 100ms\narrivals = open\nrate = 50\n"
               "strategy = none\ntimeout = 10s\nbacklog = 4096\naccepts = when-free\n"
               "outage-for = 60s\nobserve = 30s\n"))
          .result.summary.recovery;
  EXPECT_EQ(found.verdict, Verdict::kRecovering);
  EXPECT_EQ(found.causes.front().id, "queue-drains");
}

// The service does 100/s, and is asked for 50/s. When it wakes at 1:30, 3000 wait: t s later, 3000 - 50 t, for a hundredth
// of that each. So what begins from 2:10 on is answered within its 10 s, from 2:20 on.
TEST(Verdict, IsNotKnownWhereWhatLastsBeginsOnTheWayBack) {
  const auto recovery = [](const char* name, const char* value) {
    return run(with(
                   "service = workers\nworkers = 10\nservice-time = 100ms\narrivals = open\nrate = 50\nstrategy = none\n"
                   "timeout = 10s\nbacklog = 100000\nabandoned = serve\noutage-for = 60s\nobserve = 2m\n" +
                   line(name, value)))
        .result.summary.recovery;
  };
  const Recovery alone = recovery("at", "200s load 1");
  EXPECT_EQ(alone.verdict, Verdict::kRecovered);
  EXPECT_NEAR(to_seconds(alone.time_to_recovery.value()), 50, 5);
  for (const auto& [name, value, what] :
       {std::tuple("capacity", "0s 1; 110s 0.3", "capacity 0.3"),
        std::tuple("at", "110s capacity 0.3", "capacity 0.3"),
        std::tuple("fault", "110s-300s capacity:0.3", "capacity:0.3")}) {
    const Recovery result = recovery(name, value);
    EXPECT_EQ(result.verdict, Verdict::kUndecided) << value;
    EXPECT_EQ(test::facts(result.causes),
              std::string("not-back-before(what=") + what + ", at=1:50)");
    EXPECT_EQ(result.to_watch, std::nullopt);
  }
}

// The bucket holds the requests of one second, and is full at first.
TEST(Outage, OfAThrottleAdmitsThatManyRequestsASecond) {
  for (const auto& [scale, rate] : {std::pair("1", 20.), std::pair("2", 40.)}) {
    const RecordedRun throttled = run(with(
        "strategy = none\narrivals = open\nrate = 1000\nlimit = 1000000\nthrottle-status = 503\n"
        "outage = throttle:20\noutage-at = 10s\noutage-for = 100s\nobserve = 20s\n" +
        line("scale", scale)));
    for (std::size_t window = 3; window < 22; ++window) {
      EXPECT_NEAR(ok_in_window(throttled, window), rate, 0.2001) << "one request more or less";
    }
    const Counts& counts = throttled.result.summary.counts;
    const double requests = 50 * rate * 100;
    EXPECT_NEAR(static_cast<double>(counts.errors), requests - 101 * rate, 4 * std::sqrt(requests));
    EXPECT_EQ(counts.throttled, counts.errors);
    EXPECT_EQ(throttled.recording.intervals.back().rates.errors, 0);
    EXPECT_EQ(throttled.result.summary.recovery.verdict, Verdict::kRecovered);
  }
}

TEST(Outage, OfLoadIsFeltAtOnce) {
  // Think times are exponential. With twice the load, the rest of each is half as long, and a client's
  // cycle is 5.1 s instead of 10.1 s from the first window on.
  double first = 0, last = 0, after = 0;
  constexpr int kSeeds = 20;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const RecordedRun more = run(with("outage = load:2\nlimit = 1000000\n"), seed);
    first += ok_in_window(more, 6) / kSeeds;
    last += ok_in_window(more, 9) / kSeeds;
    after += ok_in_window(more, 10) / kSeeds;
  }
  const double sigma = std::sqrt(196. / 5 / kSeeds);
  EXPECT_NEAR(first, 1000 / 5.1, 4 * sigma + 2.1) << "2 % were answered before";
  EXPECT_NEAR(last, 1000 / 5.1, 4 * sigma);
  EXPECT_NEAR(after, 1000 / 10.1, 4 * sigma + 2.1);
}

TEST(Load, BringsBackClientsWhoseThinkTimeWouldEndAfterTheRun) {
  // With a thousandth of the load, think times are 10,000 s, nearly all of them longer than the run.
  const RecordedRun late = run(
      with("at = 0s load 0.001; 60s load 1\noutage-for = 0s\nobserve = 120s\nlimit = 1000000\n"));
  EXPECT_LT(ok_in_window(late, 5), 2);
  double ok = 0;
  for (std::size_t i = 14; i < 30; ++i) ok += ok_in_window(late, i) / 16;
  EXPECT_NEAR(ok, 1000 / 10.1, 4 * std::sqrt(99 / 80.));
}

TEST(Outage, OfDroppedConnectionsRefusesAtOnce) {
  const RecordedRun refused = run(with("strategy = none\noutage = drop\n"));
  const Counts& counts = refused.result.summary.counts;
  EXPECT_EQ(counts.timed_out, 0u) << "no client waits for an answer that will not come";
  // Each client asks once per think time: 2000 in 20 s, of which the first ten were reset.
  EXPECT_NEAR(static_cast<double>(counts.errors), 2000, 4 * std::sqrt(2000.));
  EXPECT_EQ(refused.recording.intervals.at(8).rates.ok, 0);
  EXPECT_EQ(refused.result.summary.recovery.verdict, Verdict::kRecovered);
}

TEST(Restart, LosesAllRequestsInTheServiceAndNothingElse) {
  // Collapsed: a thousand clients' attempts of the last seconds are in the service.
  const RecordedRun again =
      run(with("at = 60s restart\nbase-delay = 1s\ntimeout = 10s\nlimit = 2000\noutage-for = 0s\n"
               "arrivals = open\nrate = 500\nstrategy = none\n"));
  // 500 requests are in flight at any time, and all of these are reset.
  EXPECT_NEAR(static_cast<double>(again.result.summary.counts.errors), 500, 4 * std::sqrt(500.));
  EXPECT_EQ(again.result.summary.counts.timed_out, 0u);
}

TEST(Restart, OfAFrozenServerComesWhenItWakes) {
  const RecordedRun late = run(with("at = 40s restart\nstrategy = none\ntimeout = 100s\n"));
  // Clients that sent a request after 30 s wait until 50 s. Those in the accept queue are then reset. The
  // others found no room there.
  const auto& intervals = late.recording.intervals;
  EXPECT_EQ(intervals.at(8).rates.errors, 0);
  EXPECT_GT(intervals.at(10).rates.errors * 5, 256);
}

TEST(Capacity, FollowsItsSchedule) {
  // 90 a second, each of which takes 100 ms alone. At a hundredth of the capacity (limit 0, k 0.15) the
  // nine in the service take exp(9 ln(1.05) / 0.15) times as long.
  const RecordedRun less = run(with("capacity = 20s 0.01, 40s 1\noutage-for = 0s\n"));
  EXPECT_NEAR(ok_in_window(less, 3), 99, 20);
  EXPECT_LT(ok_in_window(less, 6), 60);
}

TEST(Set, ShedsFromThenOn) {
  const RecordedRun shed = run(with("at = 60s set shed-above=50; 65s restart\n"));
  EXPECT_EQ(ok_in_window(shed, 11), 0) << "collapsed";
  EXPECT_GT(shed.recording.intervals.at(12).rates.errors, 1000) << "no request is admitted";
  EXPECT_EQ(ok_in_window(shed, 12), 0) << "requests that are already in the service take long";
  EXPECT_GT(ok_in_window(shed, 14), 80) << "after these it is back";
}

TEST(Set, IsOfTheServiceBeforeItIsScaled) {
  const Scenario large = make_scenario(
      with("at = 60s set shed-above=50; 70s set limit=10; 80s capacity 2\nscale = 100\n"), 1);
  const auto& changes = large.changes;
  ASSERT_EQ(changes.size(), 5u);
  EXPECT_EQ(changes.at(2).service.shed_above, 5000u);
  EXPECT_EQ(changes.at(3).service.limit, 1000u);
  EXPECT_EQ(changes.at(4).service.limit, 2000u);
  EXPECT_EQ(changes.at(4).service.shed_above, 5000u);
  EXPECT_EQ(changes.at(4).service.backlog, 25'600u);
}

}  // namespace
}  // namespace retrystorm
