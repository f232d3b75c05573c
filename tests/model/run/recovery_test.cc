#include "model/run/recovery.h"

#include <gtest/gtest.h>

#include <vector>

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

// Windows of five seconds, fed as an engine would. The rates are per second.
class History {
 public:
  // Windows with this many OK and failed attempts a second.
  History& windows(int count, double ok, double failed = 0) {
    for (int i = 0; i < count; ++i) {
      add(ok, failed, 5);
      now_ += 5s;
      tracker_.close_window(now_, totals_);
    }
    return *this;
  }

  // So much of a window as has no end.
  History& part(Duration length, double ok, double failed = 0) {
    add(ok, failed, to_seconds(length));
    now_ += length;
    return *this;
  }

  History& stop() {
    tracker_.outage_begins(now_, totals_);
    return *this;
  }

  History& go_on() {
    tracker_.outage_ends(now_, totals_);
    return *this;
  }

  // Thirty seconds at 100 OK/s, and twenty of outage in which all fail.
  History& calm_and_outage() { return windows(6, 100).stop().windows(4, 0, 100).go_on(); }

  History& close_late(Duration length, double ok, double failed = 0) {
    part(length, ok, failed);
    tracker_.close_window(now_, totals_);
    return *this;
  }

  Recovery result() const { return tracker_.recovery(); }
  Verdict verdict() const { return result().verdict; }
  const RecoveryTracker& tracker() const { return tracker_; }
  TimePoint now() const { return now_; }

 private:
  void add(double ok, double failed, double seconds) {
    const auto some = [seconds](double rate) {
      return static_cast<std::uint64_t>(rate * seconds + 0.5);
    };
    totals_.ok += some(ok);
    totals_.timed_out += some(failed);
    totals_.requests += some(ok);
    totals_.retries += some(failed);
  }

  TimePoint now_{1000s};
  RecoveryTracker tracker_{now_};
  Counts totals_;
};

TEST(Recovery, NamesItsVerdicts) {
  EXPECT_EQ(to_string(Verdict::kNoOutage), "no outage");
  EXPECT_EQ(to_string(Verdict::kUndecided), "undecided");
  EXPECT_EQ(to_string(Verdict::kRecovered), "recovered");
  EXPECT_EQ(to_string(Verdict::kRelapsed), "relapsed");
  EXPECT_EQ(to_string(Verdict::kRecovering), "recovering");
  EXPECT_EQ(to_string(Verdict::kCollapsed), "collapsed");
}

TEST(Recovery, IsNoMatterWithoutAnOutage) {
  EXPECT_EQ(History().verdict(), Verdict::kNoOutage);
  History history;
  history.windows(10, 100, 50);
  EXPECT_EQ(history.verdict(), Verdict::kNoOutage);
  EXPECT_EQ(history.result().errors_gone, std::nullopt);
  EXPECT_EQ(history.result().ok_lost, 0);
}

TEST(Recovery, BaselineLeavesTheFirstWindowOut) {
  History history;
  history.windows(1, 10).windows(2, 90).windows(2, 110);
  EXPECT_EQ(history.result().baseline_ok, 100);
}

TEST(Recovery, BaselineMakesDoWithOneWindow) {
  EXPECT_EQ(History().windows(1, 80).result().baseline_ok, 80);
}

TEST(Recovery, BaselineLeavesOutWhatIsNoWholeWindow) {
  History history;
  history.windows(3, 100).part(4s, 20).stop();
  EXPECT_EQ(history.result().baseline_ok, 100);
}

TEST(Recovery, HasNoBaselineBeforeTheFirstWindowIsOver) {
  History history;
  history.part(4s, 100).stop().windows(1, 0, 100).go_on().windows(3, 100);
  EXPECT_EQ(history.result().baseline_ok, std::nullopt);
  EXPECT_EQ(history.verdict(), Verdict::kUndecided);
}

TEST(Recovery, IsUndecidedBeforeThreeWindowsHavePassed) {
  History history;
  history.windows(6, 100).stop();
  EXPECT_EQ(history.verdict(), Verdict::kUndecided);
  history.windows(4, 0, 100).go_on();
  EXPECT_EQ(history.verdict(), Verdict::kUndecided);
  history.windows(2, 100);
  EXPECT_EQ(history.verdict(), Verdict::kUndecided);
  history.windows(1, 100);
  EXPECT_EQ(history.verdict(), Verdict::kRecovered);
}

TEST(Recovery, TimesAreStartsOfTheFirstOfThreeWindowsRunning) {
  History history;
  history.calm_and_outage().windows(1, 0, 200).windows(1, 40, 10).windows(2, 60);
  history.windows(1, 92).windows(1, 80).windows(2, 91).windows(3, 96);
  const Recovery result = history.result();
  EXPECT_EQ(result.errors_gone, 10s);
  EXPECT_EQ(result.time_to_half, 10s);
  EXPECT_EQ(result.time_to_recovery, 30s);  // one window at 92 before is not enough
  EXPECT_EQ(result.time_to_full, 40s);
  EXPECT_EQ(result.verdict, Verdict::kRecovered);
}

TEST(Recovery, CanBeImmediate) {
  const Recovery result = History().calm_and_outage().windows(3, 100).result();
  EXPECT_EQ(result.errors_gone, 0s);
  EXPECT_EQ(result.time_to_recovery, 0s);
}

TEST(Recovery, ThresholdsIncludeTheirBound) {
  EXPECT_EQ(History().calm_and_outage().windows(3, 90).result().time_to_recovery, 0s);
  EXPECT_EQ(History().calm_and_outage().windows(3, 89.8).result().time_to_recovery, std::nullopt);
  EXPECT_EQ(History().calm_and_outage().windows(3, 50).result().time_to_half, 0s);
  EXPECT_EQ(History().calm_and_outage().windows(3, 49.8).result().time_to_half, std::nullopt);
  EXPECT_EQ(History().calm_and_outage().windows(3, 95).result().time_to_full, 0s);
  EXPECT_EQ(History().calm_and_outage().windows(3, 94.8).result().time_to_full, std::nullopt);
}

TEST(Recovery, ErrorsAreGoneAtOnePercentOfTheAttempts) {
  EXPECT_EQ(History().calm_and_outage().windows(3, 99, 1).result().errors_gone, 0s);
  EXPECT_EQ(History().calm_and_outage().windows(3, 98.8, 1.2).result().errors_gone, std::nullopt);
}

TEST(Recovery, IsRelapsedWhenALaterWindowIsUnderThreeQuarters) {
  EXPECT_EQ(History().calm_and_outage().windows(3, 95).windows(1, 75).verdict(),
            Verdict::kRecovered);
  EXPECT_EQ(History().calm_and_outage().windows(3, 95).windows(1, 74.8).verdict(),
            Verdict::kRelapsed);
  EXPECT_EQ(History().calm_and_outage().windows(3, 95).windows(1, 20).windows(5, 100).verdict(),
            Verdict::kRelapsed);
}

TEST(Recovery, LowWindowsBeforeTheRecoveryAreNoRelapse) {
  EXPECT_EQ(History().calm_and_outage().windows(4, 5, 100).windows(3, 95).verdict(),
            Verdict::kRecovered);
}

TEST(Recovery, IsRecoveringWhenErrorsAreGone) {
  // As a responsive fleet that still sleeps: 5 % of the baseline, but nothing fails.
  EXPECT_EQ(History().calm_and_outage().windows(3, 5, 0).verdict(), Verdict::kRecovering);
}

TEST(Recovery, IsRecoveringFromTenPercentOn) {
  EXPECT_EQ(History().calm_and_outage().windows(3, 10, 300).verdict(), Verdict::kRecovering);
  EXPECT_EQ(History().calm_and_outage().windows(3, 9.8, 300).verdict(), Verdict::kCollapsed);
  EXPECT_EQ(History().calm_and_outage().windows(3, 89, 300).verdict(), Verdict::kRecovering);
}

TEST(Recovery, IsCollapsedByItsLastThreeWindows) {
  EXPECT_EQ(History().calm_and_outage().windows(3, 0, 476).verdict(), Verdict::kCollapsed);
  EXPECT_EQ(History().calm_and_outage().windows(2, 80, 50).windows(3, 0, 476).verdict(),
            Verdict::kCollapsed);
  EXPECT_EQ(History().calm_and_outage().windows(3, 0, 476).windows(1, 20, 400).verdict(),
            Verdict::kRecovering);
}

TEST(Recovery, CountsTheAnswersMissingFromTheBaseline) {
  // 20 s of outage without any, 10 s at half: 2000 + 500.
  History history;
  history.calm_and_outage().windows(2, 50).windows(3, 100);
  EXPECT_NEAR(history.result().ok_lost, 2500, 1e-6);
  // What comes after the recovery is not counted.
  history.windows(2, 80);
  EXPECT_NEAR(history.result().ok_lost, 2500, 1e-6);
}

TEST(Recovery, CountsTheLastPartOfTheOutageToo) {
  History history;
  history.windows(3, 100).stop().windows(1, 0, 100).part(2s, 0, 100).go_on().windows(3, 100);
  EXPECT_NEAR(history.result().ok_lost, 700, 1e-6);
}

TEST(Recovery, LosesToTheEndWhenThereIsNoRecovery) {
  EXPECT_NEAR(History().calm_and_outage().windows(4, 0, 400).result().ok_lost, 4000, 1e-6);
}

TEST(Recovery, NeverLosesLessThanNothing) {
  History history;
  history.windows(3, 100).stop().windows(1, 150).go_on().windows(3, 100);
  EXPECT_EQ(history.result().ok_lost, 0);
}

TEST(Recovery, PeakIsTheBusiestWindowOfTheRun) {
  History history;
  history.windows(1, 300).windows(3, 100).stop().windows(2, 0, 476).go_on();
  EXPECT_EQ(history.result().peak_attempts, 476);
  history.windows(1, 20, 580).windows(3, 100);
  EXPECT_EQ(history.result().peak_attempts, 600);
}

// The rest of the outage after its last window is often a fraction of a millisecond.
TEST(Recovery, PeakIsNotThatOfAMoment) {
  History history;
  history.windows(6, 100).stop().windows(4, 0, 200).part(1ms, 0, 3000).go_on().windows(3, 100);
  EXPECT_EQ(history.result().peak_attempts, 200);
}

TEST(Recovery, WindowsAreAlignedToTheStartTheStopAndTheGoOn) {
  History history;
  EXPECT_EQ(history.tracker().window_end(), history.now() + 5s);
  history.windows(3, 100).part(3s, 100).stop();
  EXPECT_TRUE(history.tracker().in_outage());
  EXPECT_EQ(history.tracker().window_end(), history.now() + 5s);
  history.part(2s, 0).go_on();
  EXPECT_FALSE(history.tracker().in_outage());
  EXPECT_EQ(history.tracker().window_end(), history.now() + 5s);
  history.windows(1, 100);
  EXPECT_EQ(history.tracker().window_end(), history.now() + 5s);
}

TEST(Recovery, LateEngineDoesNotShiftTheWindowsAfterIt) {
  History history;
  const TimePoint start = history.now();
  history.close_late(5300ms, 100);
  EXPECT_EQ(history.tracker().window_end(), start + 10s);
  history.close_late(4700ms, 100);
  EXPECT_EQ(history.tracker().window_end(), start + 15s);
  EXPECT_EQ(history.result().baseline_ok, 100);
}

TEST(Recovery, LateEngineMakesOneWindowOfTheMissedOnes) {
  History history;
  history.calm_and_outage();
  const TimePoint woken = history.now();
  history.close_late(12s, 0, 100);  // two windows and a bit
  EXPECT_EQ(history.tracker().window_end(), woken + 15s);
  history.close_late(3s, 0, 100);
  EXPECT_EQ(history.tracker().window_end(), woken + 20s);
  history.windows(3, 100);
  EXPECT_EQ(history.result().time_to_recovery, 15s);
  EXPECT_EQ(history.verdict(), Verdict::kRecovered);
}

TEST(Recovery, FurtherOutageStartsTheVerdictAnew) {
  History history;
  history.calm_and_outage().windows(5, 0, 476);
  EXPECT_EQ(history.verdict(), Verdict::kCollapsed);
  history.stop();
  EXPECT_EQ(history.verdict(), Verdict::kUndecided);
  history.windows(1, 0).go_on().windows(3, 100);
  EXPECT_EQ(history.verdict(), Verdict::kRecovered);
  EXPECT_EQ(history.result().baseline_ok, 100);
  EXPECT_NEAR(history.result().ok_lost, 500, 1e-6);
}

}  // namespace
}  // namespace retrystorm
