#include "model/run/recovery.h"

#include <gtest/gtest.h>

#include <vector>

#include "model/base/random.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

// Windows of five seconds, fed as an engine would. The rates are per second, of a service of
// `size` times that.
class History {
 public:
  explicit History(double size = 1) : size_(size) {}

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
    const auto some = [&](double rate) {
      return static_cast<std::uint64_t>(size_ * rate * seconds + 0.5);
    };
    totals_.ok += some(ok);
    totals_.timed_out += some(failed);
    totals_.requests += some(ok);
    totals_.retries += some(failed);
  }

  const double size_;
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

// A service so large that its windows have no noise to speak of.
constexpr double kLarge = 100;

TEST(Recovery, TimesAreStartsOfTheFirstOfThreeWindowsRunning) {
  History history(kLarge);
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
  EXPECT_EQ(History(kLarge).calm_and_outage().windows(3, 90).result().time_to_recovery, 0s);
  EXPECT_EQ(History(kLarge).calm_and_outage().windows(3, 89.8).result().time_to_recovery,
            std::nullopt);
  EXPECT_EQ(History(kLarge).calm_and_outage().windows(3, 50).result().time_to_half, 0s);
  EXPECT_EQ(History(kLarge).calm_and_outage().windows(3, 49.8).result().time_to_half, std::nullopt);
  EXPECT_EQ(History(kLarge).calm_and_outage().windows(3, 95).result().time_to_full, 0s);
  EXPECT_EQ(History(kLarge).calm_and_outage().windows(3, 94.8).result().time_to_full, std::nullopt);
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

TEST(Recovery, WindowsWithoutAnAttemptShowNothing) {
  // Clients that all wait to retry: nobody has asked, so nothing is known.
  History history;
  history.calm_and_outage().windows(3, 0, 0);
  EXPECT_EQ(history.result().errors_gone, std::nullopt);
  EXPECT_EQ(history.verdict(), Verdict::kUndecided);
  // Those who ask then, and get nothing, do know.
  history.windows(1, 0, 20);
  EXPECT_EQ(history.verdict(), Verdict::kCollapsed);
  history.windows(2, 0, 0);
  EXPECT_EQ(history.verdict(), Verdict::kCollapsed);
  // And those whose every attempt is answered.
  history.windows(1, 1);
  EXPECT_EQ(history.verdict(), Verdict::kRecovering);
  EXPECT_EQ(history.result().errors_gone, std::nullopt);
  history.windows(2, 1);
  EXPECT_EQ(history.result().errors_gone, 30s);
}

TEST(Recovery, MissesAShareOnlyBeyondCountingNoise) {
  // Of 25 OK in a window: after a calm of 125, ten are 3.05 sigmas too few, and 45 in three windows
  // 2.99.
  const auto with = [](int first, int second, int third) {
    History history(0.05);
    history.calm_and_outage().windows(1, 4 * first).windows(1, 4 * second).windows(1, 4 * third);
    return history.result();
  };
  EXPECT_EQ(with(25, 11, 25).time_to_recovery, 0s);
  EXPECT_EQ(with(25, 10, 25).time_to_recovery, std::nullopt);
  EXPECT_EQ(with(15, 15, 15).time_to_recovery, 0s);
  EXPECT_EQ(with(15, 14, 15).time_to_recovery, std::nullopt);
  // What is not under the share itself is never missed.
  EXPECT_EQ(with(13, 13, 13).time_to_half, 0s);
}

TEST(Recovery, IsUndecidedByTooFewAnswers) {
  // Two clients: one OK in a window, and none in fifteen seconds is nothing strange.
  for (const double ok : {0.0, 0.2, 0.4}) {
    History history;
    history.windows(6, 0.2).stop().windows(4, 0, 1).go_on().windows(8, ok);
    EXPECT_EQ(history.verdict(), Verdict::kUndecided);
    EXPECT_EQ(history.result().time_to_recovery, std::nullopt);
    EXPECT_EQ(history.result().time_to_half, std::nullopt);
  }
  // Twenty clients are enough for what is plain.
  EXPECT_EQ(History(0.02).calm_and_outage().windows(3, 100).verdict(), Verdict::kRecovered);
  EXPECT_EQ(History(0.02).calm_and_outage().windows(3, 0, 400).verdict(), Verdict::kCollapsed);
}

TEST(Recovery, SeesTheRelapseOfAFewClients) {
  const auto then = [](double size, int windows, double ok) {
    return History(size).calm_and_outage().windows(3, 100).windows(windows, ok, 400).verdict();
  };
  // A hundred clients: one window without an OK, or half of it for fifteen seconds.
  EXPECT_EQ(then(0.1, 1, 0), Verdict::kRelapsed);
  EXPECT_EQ(then(0.1, 3, 50), Verdict::kRelapsed);
  EXPECT_EQ(then(0.1, 1, 50), Verdict::kRecovered);  // 3.6 sigmas do not suffice
  // Twenty clients: fifteen seconds without an OK.
  EXPECT_EQ(then(0.02, 3, 0), Verdict::kRelapsed);
  // Watched for an hour, and back again since.
  History history(0.1);
  history.calm_and_outage().windows(300, 100).windows(3, 0, 400).windows(400, 100);
  EXPECT_EQ(history.verdict(), Verdict::kRelapsed);
}

// Windows of Poisson counts: a service that nothing has ever happened to.
class Healthy {
 public:
  Healthy(double ok_per_window, std::uint64_t seed) : random_(seed, 0), mean_(ok_per_window) {}

  Recovery watch(int windows) {
    RecoveryTracker tracker(now_);
    const auto pass = [&](int count) {
      for (int i = 0; i < count; ++i) {
        const std::uint64_t ok = poisson(mean_);
        totals_.ok += ok;
        totals_.requests += ok;
        now_ += 5s;
        tracker.close_window(now_, totals_);
      }
    };
    pass(6);
    tracker.outage_begins(now_, totals_);
    tracker.outage_ends(now_, totals_);
    pass(windows);
    return tracker.recovery();
  }

 private:
  // Arrivals until the time is over.
  std::uint64_t poisson(double mean) {
    std::uint64_t count = 0;
    for (Duration t = random_.exponential(1s); t < from_seconds(mean);
         t += random_.exponential(1s)) {
      ++count;
    }
    return count;
  }

  ClientRandom random_;
  double mean_;
  TimePoint now_{};
  Counts totals_;
};

TEST(RecoveryNoise, HealthyServiceIsRecoveredAtOnce) {
  // Of 20, 50, 100 and 1,000 clients.
  for (const double ok : {9.9, 24.75, 49.5, 495.0}) {
    const int runs = ok > 100 ? 300 : 1000;
    int recovered = 0, at_once = 0;
    for (int i = 0; i < runs; ++i) {
      const Recovery result = Healthy(ok, static_cast<std::uint64_t>(i)).watch(12);
      recovered += result.verdict == Verdict::kRecovered ? 1 : 0;
      at_once += result.time_to_recovery == Duration::zero() ? 1 : 0;
    }
    EXPECT_GE(recovered, runs * 0.99) << ok;
    EXPECT_GE(at_once, runs * 0.99) << ok;
  }
}

// Many windows are many chances of a low one.
TEST(RecoveryNoise, HealthyServiceDoesNotRelapseHoweverLongItIsWatched) {
  constexpr int kWindows = 720;  // an hour
  for (const double ok : {9.9, 49.5}) {
    int relapsed = 0;
    for (std::uint64_t i = 0; i < 200; ++i) {
      relapsed += Healthy(ok, i).watch(kWindows).verdict == Verdict::kRelapsed ? 1 : 0;
    }
    EXPECT_EQ(relapsed, 0) << ok;
  }
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
