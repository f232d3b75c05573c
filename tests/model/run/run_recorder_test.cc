#include "model/run/run_recorder.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

constexpr TimePoint kRunStart{1000s};

// Notes all calls, in order.
class Notes final : public RunObserver {
 public:
  void on_interval(const RunInterval& interval) override {
    intervals.push_back(interval);
    calls.push_back("interval " + format_duration(interval.t));
  }
  void on_outage(Duration t, OutageEvent event, const std::string& what) override {
    calls.push_back((event == OutageEvent::kBegin ? what + ' ' : "end of " + what + ' ') +
                    format_duration(t));
  }
  void on_action(Duration t, const std::string& what) override {
    calls.push_back(what + ' ' + format_duration(t));
  }
  void on_summary(const Summary& summary) override {
    calls.push_back("summary " + std::string(to_string(summary.recovery.verdict)));
  }

  std::vector<RunInterval> intervals;
  std::vector<std::string> calls;
};

Counts ok(std::uint64_t count) {
  return {.ok = count, .requests = count, .attempts = count};
}

TEST(RunRecorder, GivesEachObserverItsOwnIntervals) {
  RunRecorder recorder(kRunStart);
  Notes quick, slow;
  recorder.add(quick, 1s);
  recorder.add(slow, 2500ms);
  std::uint64_t answers = 0;
  while (recorder.next_tick() <= kRunStart + 5s) {
    answers += 10;
    recorder.tick(recorder.next_tick(), ok(answers), {}, {});
  }
  EXPECT_THAT(quick.calls, ElementsAre("interval 1s", "interval 2s", "interval 3s", "interval 4s",
                                       "interval 5s"));
  EXPECT_THAT(slow.calls, ElementsAre("interval 2.5s", "interval 5s"));
  // Ticks at 1, 2, 2.5, 3, 4 and 5 s: the third second held two of them.
  EXPECT_EQ(quick.intervals[0].rates.ok, 10);
  EXPECT_EQ(quick.intervals[2].rates.ok, 20);
  EXPECT_EQ(slow.intervals[0].rates.ok, 30 / 2.5);
  EXPECT_EQ(slow.intervals[1].rates.ok, 30 / 2.5);
  EXPECT_EQ(slow.intervals[1].totals.ok, 60);
}

TEST(RunRecorder, WakesForItsWindowsWithoutObservers) {
  RunRecorder recorder(kRunStart);
  EXPECT_EQ(recorder.next_tick(), kRunStart + RecoveryTracker::kWindow);
  recorder.tick(kRunStart + 5s, ok(500), {}, {});
  EXPECT_EQ(recorder.recovery().baseline_ok, 100);
  EXPECT_EQ(recorder.next_tick(), kRunStart + 10s);
}

TEST(RunRecorder, GivesTheLatenciesOfEachInterval) {
  RunRecorder recorder(kRunStart);
  Notes listener;
  recorder.add(listener, 1s);
  RunLatencies latencies;
  latencies.add_ok(kRunStart, 100ms, 100ms);
  recorder.tick(kRunStart + 1s, ok(1), {}, latencies);
  recorder.tick(kRunStart + 2s, ok(1), {}, latencies);
  latencies.add_ok(kRunStart, 1s, 5s);
  latencies.add_given_up(kRunStart, 20s);
  recorder.tick(kRunStart + 3s, ok(2), {}, latencies);
  EXPECT_NEAR(to_seconds(*listener.intervals.at(0).latency.p50), 0.1, 0.0004);
  EXPECT_EQ(listener.intervals.at(1).latency.p50, std::nullopt);
  EXPECT_NEAR(to_seconds(*listener.intervals.at(2).latency.p99), 1, 0.004);
}

// The engine was delayed: the rate is that of the time that passed, and nothing is reported twice.
TEST(RunRecorder, LeavesOutTheIntervalsItMissed) {
  RunRecorder recorder(kRunStart);
  Notes listener;
  recorder.add(listener, 1s);
  recorder.tick(kRunStart + 3500ms, ok(350), {}, {});
  EXPECT_THAT(listener.calls, ElementsAre("interval 3.5s"));
  EXPECT_EQ(listener.intervals[0].rates.ok, 100);
  EXPECT_EQ(recorder.next_tick(), kRunStart + 4s);
  recorder.tick(kRunStart + 4s, ok(400), {}, {});
  EXPECT_EQ(listener.intervals[1].rates.ok, 100);
}

TEST(RunRecorder, CopesWithTheLongestInterval) {
  RunRecorder recorder(kRunStart);
  Notes listener;
  recorder.add(listener, Duration::max());
  recorder.tick(kRunStart + 5s, ok(1), {}, {});
  EXPECT_TRUE(listener.calls.empty());
}

TEST(RunRecorder, ReportsTheOutageToAllAndTheVerdictOfTheLastWindow) {
  RunRecorder recorder(kRunStart);
  Notes one, other;
  recorder.add(one, 5s);
  recorder.add(other, 100s);
  std::uint64_t answers = 0;
  TimePoint now = kRunStart;
  const auto pass = [&](int windows, std::uint64_t count) {
    for (int i = 0; i < windows; ++i) {
      answers += count;
      now += 5s;
      recorder.tick(now, ok(answers), {}, {});
    }
  };
  pass(2, 500);
  EXPECT_EQ(one.intervals.back().verdict, Verdict::kNoOutage);
  recorder.outage_begins(now, ok(answers), "slow:3");
  EXPECT_TRUE(recorder.in_outage());
  pass(1, 0);
  EXPECT_EQ(one.intervals.back().outage, "slow:3");
  EXPECT_EQ(one.intervals.back().verdict, Verdict::kUndecided);
  recorder.outage_ends(now, ok(answers));
  EXPECT_FALSE(recorder.in_outage());
  recorder.action(now, "load 0.5", Lasting::kNothing);
  // The line at the end of a window shows the verdict with it.
  pass(3, 500);
  EXPECT_EQ(one.intervals.at(4).verdict, Verdict::kUndecided);
  EXPECT_EQ(one.intervals.at(5).verdict, Verdict::kRecovered);
  pass(1, 100);
  EXPECT_EQ(one.intervals.back().verdict, Verdict::kRelapsed);
  recorder.summarize({.recovery = recorder.end(now, ok(answers))});
  EXPECT_THAT(other.calls,
              ElementsAre("slow:3 10s", "end of slow:3 15s", "load 0.5 15s", "summary relapsed"));
  EXPECT_THAT(one.calls,
              ElementsAre("interval 5s", "interval 10s", "slow:3 10s", "interval 15s",
                          "end of slow:3 15s", "load 0.5 15s", "interval 20s", "interval 25s",
                          "interval 30s", "interval 35s", "summary relapsed"));
  EXPECT_EQ(recorder.outage(), "slow:3");
}

// Where nothing is retried, the load is no more than it was before the outage.
TEST(RunRecorder, NamesProbesThatKillWhatIsBusy) {
  struct Listener : RunObserver {
    void on_summary(const Summary& summary) override { cause = summary.recovery.causes.front().id; }
    std::string_view cause;
  } listener;
  RunRecorder recorder(kRunStart);
  recorder.add(listener, 5s);
  const auto told = [&](std::string_view cause, std::uint64_t killed) {
    HostsResult hosts;
    hosts.killed_busy = killed;
    recorder.summarize(
        {.recovery = {.verdict = Verdict::kCollapsed, .causes = {{cause, {}}}}, .hosts = hosts});
    return listener.cause;
  };
  EXPECT_EQ(told("held-without-retries", 3), "held-by-probes");
  EXPECT_EQ(told("held-without-retries", 0), "held-without-retries");
  EXPECT_EQ(told("held-by-retries", 3), "held-by-retries");
}

TEST(RunRecorder, SplitsTheTotalsAtTheOutage) {
  RunRecorder recorder(kRunStart);
  Notes listener;
  recorder.add(listener, 1s);
  RunLatencies latencies(kRunStart);
  const auto totals = [](std::uint64_t answers, std::uint64_t attempts) {
    return Counts{.ok = answers, .requests = attempts, .attempts = attempts};
  };
  recorder.tick(kRunStart + 5s, totals(40, 50), {}, latencies);  // left out, as in the baseline
  recorder.tick(kRunStart + 20s, totals(190, 200), {}, latencies);
  latencies.begin_phase(kRunStart + 20s);
  recorder.outage_begins(kRunStart + 20s, totals(190, 200), "drop");
  latencies.begin_phase(kRunStart + 30s);
  recorder.outage_ends(kRunStart + 30s, totals(190, 400));
  latencies.add_ok(kRunStart + 29s, 1s, 3s);
  latencies.add_given_up(kRunStart + 29s, 5s);
  latencies.add_unfinished(kRunStart + 29s, kRunStart + 40s);
  latencies.add_unfinished(kRunStart + 29s, kRunStart + 40s);
  EXPECT_EQ(recorder.phases(latencies)->at(1).success_share(), 0.25);
  recorder.end(kRunStart + 40s, totals(230, 450));
  const RunPhases phases = *recorder.phases(latencies);
  EXPECT_EQ(phases[0].length, 15s);
  EXPECT_EQ(phases[0].counts.attempts, 150);
  EXPECT_EQ(phases[0].counts.ok, 150);
  EXPECT_EQ(phases[0].success_share(), std::nullopt);
  EXPECT_EQ(phases[1].length, 10s);
  EXPECT_EQ(phases[1].counts.attempts, 200);
  EXPECT_EQ(phases[1].requests(), 4);
  EXPECT_NEAR(to_seconds(phases[1].request_p50->time), 5, 0.02);
  EXPECT_FALSE(phases[1].request_p50->or_more);
  EXPECT_EQ(phases[1].request_p99, (TimeBound{.time = 11s, .or_more = true}));
  EXPECT_EQ(phases[2].length, 10s);
  EXPECT_EQ(phases[2].counts.ok, 40);
}

TEST(RunRecorder, HasNoPhasesWithoutAnOutage) {
  RunRecorder recorder(kRunStart);
  recorder.end(kRunStart + 40s, ok(1));
  EXPECT_FALSE(recorder.phases({}));
}

}  // namespace
}  // namespace retrystorm
