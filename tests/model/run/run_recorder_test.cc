#include "model/run/run_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace retrystorm {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr TimePoint kRunStart{1000s};

// Writes down what it is told, in order.
class Notes final : public RunObserver {
 public:
  void on_interval(const RunInterval& interval) override {
    intervals.push_back(interval);
    heard.push_back("interval " + format_duration(interval.t));
  }
  void on_outage(Duration t, OutageEvent event, const std::string& what) override {
    heard.push_back((event == OutageEvent::kBegin ? what + ' ' : "end of " + what + ' ') +
                    format_duration(t));
  }
  void on_action(Duration t, const std::string& what) override {
    heard.push_back(what + ' ' + format_duration(t));
  }
  void on_summary(const Summary& summary) override {
    heard.push_back("summary " + std::string(to_string(summary.recovery.verdict)));
  }

  std::vector<RunInterval> intervals;
  std::vector<std::string> heard;
};

Counts ok(std::uint64_t count) {
  return {.ok = count, .requests = count};
}

TEST(RunRecorder, TellsEachItsOwnIntervals) {
  RunRecorder recorder(kRunStart);
  Notes quick, slow;
  recorder.add(quick, 1s);
  recorder.add(slow, 2500ms);
  std::uint64_t answers = 0;
  while (recorder.next_tick() <= kRunStart + 5s) {
    answers += 10;
    recorder.tick(recorder.next_tick(), ok(answers), {}, {});
  }
  EXPECT_THAT(quick.heard, ElementsAre("interval 1s", "interval 2s", "interval 3s", "interval 4s",
                                       "interval 5s"));
  EXPECT_THAT(slow.heard, ElementsAre("interval 2.5s", "interval 5s"));
  // Ticks at 1, 2, 2.5, 3, 4 and 5 s: the third second held two of them.
  EXPECT_EQ(quick.intervals[0].rates.ok, 10);
  EXPECT_EQ(quick.intervals[2].rates.ok, 20);
  EXPECT_EQ(slow.intervals[0].rates.ok, 30 / 2.5);
  EXPECT_EQ(slow.intervals[1].rates.ok, 30 / 2.5);
  EXPECT_EQ(slow.intervals[1].totals.ok, 60);
}

TEST(RunRecorder, WakesForItsWindowsThoughNobodyListens) {
  RunRecorder recorder(kRunStart);
  EXPECT_EQ(recorder.next_tick(), kRunStart + RecoveryTracker::kWindow);
  recorder.tick(kRunStart + 5s, ok(500), {}, {});
  EXPECT_EQ(recorder.recovery().baseline_ok, 100);
  EXPECT_EQ(recorder.next_tick(), kRunStart + 10s);
}

TEST(RunRecorder, HandsOnWhatTheClientsAreAt) {
  RunRecorder recorder(kRunStart);
  Notes listener;
  recorder.add(listener, 1s);
  recorder.tick(kRunStart + 1s, ok(1), {.thinking = 5, .in_flight = 3, .waiting_to_retry = 2}, {});
  EXPECT_EQ(listener.intervals.at(0).clients.thinking, 5u);
  EXPECT_EQ(listener.intervals.at(0).clients.in_flight, 3u);
  EXPECT_EQ(listener.intervals.at(0).clients.waiting_to_retry, 2u);
}

TEST(RunRecorder, TellsTheLatenciesOfEachInterval) {
  RunRecorder recorder(kRunStart);
  Notes listener;
  recorder.add(listener, 1s);
  RunLatencies latencies;
  latencies.add_ok(100ms, 100ms);
  recorder.tick(kRunStart + 1s, ok(1), {}, latencies);
  recorder.tick(kRunStart + 2s, ok(1), {}, latencies);
  latencies.add_ok(1s, 5s);
  latencies.add_given_up(20s);
  recorder.tick(kRunStart + 3s, ok(2), {}, latencies);
  EXPECT_NEAR(to_seconds(*listener.intervals.at(0).latency.p50), 0.1, 0.0004);
  EXPECT_EQ(listener.intervals.at(1).latency.p50, std::nullopt);
  EXPECT_NEAR(to_seconds(*listener.intervals.at(2).latency.p99), 1, 0.004);
}

// An engine that was held up: the rate is that of the time that passed, and nothing is told twice.
TEST(RunRecorder, LeavesOutTheIntervalsItMissed) {
  RunRecorder recorder(kRunStart);
  Notes listener;
  recorder.add(listener, 1s);
  recorder.tick(kRunStart + 3500ms, ok(350), {}, {});
  EXPECT_THAT(listener.heard, ElementsAre("interval 3.5s"));
  EXPECT_EQ(listener.intervals[0].rates.ok, 100);
  EXPECT_EQ(recorder.next_tick(), kRunStart + 4s);
  recorder.tick(kRunStart + 4s, ok(400), {}, {});
  EXPECT_EQ(listener.intervals[1].rates.ok, 100);
}

TEST(RunRecorder, DoesNotWaitForAnIntervalLongerThanTime) {
  RunRecorder recorder(kRunStart);
  Notes listener;
  recorder.add(listener, Duration::max());
  recorder.tick(kRunStart + 5s, ok(1), {}, {});
  EXPECT_TRUE(listener.heard.empty());
}

TEST(RunRecorder, TellsTheOutageToAllAndTheVerdictOfTheLastWindow) {
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
  recorder.action(now, "load 0.5");
  // The line at the end of a window shows the verdict with it.
  pass(3, 500);
  EXPECT_EQ(one.intervals.at(4).verdict, Verdict::kUndecided);
  EXPECT_EQ(one.intervals.at(5).verdict, Verdict::kRecovered);
  pass(1, 100);
  EXPECT_EQ(one.intervals.back().verdict, Verdict::kRelapsed);
  recorder.summarize({.recovery = recorder.end(now, ok(answers))});
  EXPECT_THAT(other.heard,
              ElementsAre("slow:3 10s", "end of slow:3 15s", "load 0.5 15s", "summary relapsed"));
  EXPECT_THAT(one.heard,
              ElementsAre("interval 5s", "interval 10s", "slow:3 10s", "interval 15s",
                          "end of slow:3 15s", "load 0.5 15s", "interval 20s", "interval 25s",
                          "interval 30s", "interval 35s", "summary relapsed"));
  EXPECT_EQ(recorder.outage(), "slow:3");
}

}  // namespace
}  // namespace retrystorm
