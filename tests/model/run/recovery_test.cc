#include "model/run/recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "model/base/random.h"
#include "tests/support/facts.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// Windows of five seconds, given as by an engine. The rates are per second, for a service that is
// `size` times as large.
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

  // A window for each of these numbers of requests in the service's queue at its end.
  History& queues(const std::vector<std::size_t>& waiting, double ok, double failed) {
    for (const std::size_t each : waiting) {
      add(ok, failed, 5);
      now_ += 5s;
      tracker_.close_window(now_, totals_, each);
    }
    return *this;
  }

  // Windows in which this many attempts a second find that nothing listens.
  History& refused(int count, double rate) {
    const auto each = static_cast<std::uint64_t>(rate * 5);
    for (int i = 0; i < count; ++i) {
      totals_.errors += each;
      totals_.errors_by[error_kind(not_connected(0s, NoAnswer::kRefused))] += each;
      totals_.attempts += each;
      totals_.retries += each;
      now_ += 5s;
      tracker_.close_window(now_, totals_);
    }
    return *this;
  }

  History& action() {
    tracker_.note_change();
    return *this;
  }

  // What the user does besides the outage.
  History& disturb(const std::string& what, Lasting leaves = Lasting::kNothing) {
    tracker_.disturb(now_, what, leaves);
    return *this;
  }
  History& fault_begins(const std::string& what) {
    tracker_.disturbance_begins(now_, what);
    return *this;
  }
  History& fault_ends(const std::string& what) {
    tracker_.disturbance_ends(now_, what);
    return *this;
  }
  History& load(double factor, std::optional<double> thinking = std::nullopt) {
    tracker_.disturb(now_, "load " + std::to_string(factor));
    tracker_.set_load(now_, factor, thinking);
    return *this;
  }

  // A part of a window that does not end.
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

  // Thirty seconds at 100 OK/s, then an outage of twenty in which all attempts fail.
  History& calm_and_outage() { return windows(6, 100).stop().windows(4, 0, 100).go_on(); }

  History& close_late(Duration length, double ok, double failed = 0) {
    part(length, ok, failed);
    tracker_.close_window(now_, totals_);
    return *this;
  }

  Recovery result() const { return tracker_.recovery(); }
  Verdict verdict() const { return result().verdict; }
  std::string reason() const { return test::facts(result().causes); }
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
    totals_.attempts += some(ok) + some(failed);
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

TEST(Recovery, HasNoVerdictWithoutAnOutage) {
  EXPECT_EQ(History().verdict(), Verdict::kNoOutage);
  History history;
  history.windows(10, 100, 50);
  EXPECT_EQ(history.verdict(), Verdict::kNoOutage);
  EXPECT_EQ(history.result().errors_gone, std::nullopt);
  EXPECT_EQ(history.result().ok_lost, 0);
}

// A service that dies by itself, one that was never there, and others that only look so.
TEST(Recovery, SaysThatAServiceIsDownWithoutAnOutage) {
  History died;
  died.windows(6, 100).windows(3, 0, 400);
  EXPECT_EQ(died.verdict(), Verdict::kCollapsed);
  EXPECT_EQ(died.tracker().verdict(), Verdict::kCollapsed);
  EXPECT_EQ(died.reason(),
            "down-by-itself(window=15s, ok=0, baseline=100, attempts=400, retries=400)");
  EXPECT_EQ(History().windows(6, 100).windows(2, 0, 400).verdict(), Verdict::kNoOutage);
  EXPECT_EQ(History().windows(6, 100).windows(3, 0, 0).verdict(), Verdict::kNoOutage);
  // Two windows are too few for either.
  History brief;
  brief.windows(2, 0, 20);
  EXPECT_EQ(brief.verdict(), Verdict::kUndecided);
  EXPECT_EQ(brief.reason(), "none-ok-yet(attempts=200)");
  EXPECT_EQ(History().windows(2, 1, 20).verdict(), Verdict::kNoOutage);
  EXPECT_EQ(History().windows(2, 0, 0).verdict(), Verdict::kNoOutage);
  History never;
  never.windows(3, 0, 20);
  EXPECT_EQ(never.verdict(), Verdict::kCollapsed);
  EXPECT_EQ(never.reason(), "never-well(count=300, window=15s, attempts=20, retries=20)");
  // Too few attempts; a service that is metered; the end of a job.
  EXPECT_EQ(History().windows(3, 0, 0.4).verdict(), Verdict::kNoOutage);
  EXPECT_EQ(History().windows(6, 15, 100'000).verdict(), Verdict::kNoOutage);
  EXPECT_EQ(History().windows(6, 100).windows(3, 5).verdict(), Verdict::kNoOutage);
}

// 5,000 wait, and 200 fewer after each window of 5 s: nobody knows yet whether it comes back.
TEST(Recovery, LeavesAQueueThatEmptiesOpenWithoutAnOutage) {
  History draining;
  draining.windows(6, 100);
  std::vector<std::size_t> queue;
  for (std::size_t waiting = 5000; waiting >= 3000; waiting -= 200) queue.push_back(waiting);
  draining.queues(queue, 0, 400);
  EXPECT_EQ(draining.verdict(), Verdict::kRecovering);
  EXPECT_EQ(draining.reason(),
            "queue-drains(ok=0, baseline=100, waiting=3000, rate=40, left=1m15s)");
  EXPECT_GT(draining.result().to_watch, 30s + 55s + 75s);
}

// Nothing failed in twenty seconds: the outage may not have happened.
TEST(Recovery, KnowsAnOutageThatWasNotFelt) {
  const auto unfelt = [](double ok, double failed, int windows = 4) {
    return History()
        .windows(6, 100)
        .stop()
        .windows(windows, ok, failed)
        .go_on()
        .windows(4, 100)
        .result()
        .unfelt;
  };
  EXPECT_TRUE(unfelt(100, 0));
  EXPECT_FALSE(unfelt(100, 1));
  EXPECT_FALSE(unfelt(50, 0));
  // Of 500 answers in 5 s chance takes up to three roots, 67, and 55 are missing.
  EXPECT_TRUE(unfelt(89, 0, 1));
  EXPECT_FALSE(unfelt(0, 0));
  // A third fails in the calm: 1,000 in 20 s, and chance adds three roots, 95.
  const auto ailing = [](double ok, double failed) {
    return History()
        .windows(6, 100, 50)
        .stop()
        .windows(4, ok, failed)
        .go_on()
        .windows(4, 100, 50)
        .result()
        .unfelt;
  };
  EXPECT_TRUE(ailing(100, 50));
  EXPECT_TRUE(ailing(100, 54));
  EXPECT_FALSE(ailing(100, 60));
  EXPECT_FALSE(ailing(50, 50));
  EXPECT_FALSE(
      History().windows(6, 100).stop().part(1ms, 100).go_on().windows(4, 100).result().unfelt);
}

TEST(Recovery, BaselineLeavesOutTheFirstWindow) {
  History history;
  history.windows(1, 10).windows(2, 90).windows(2, 110);
  EXPECT_EQ(history.result().baseline_ok, 100);
}

TEST(Recovery, BaselineMayBeOneWindow) {
  EXPECT_EQ(History().windows(1, 80).result().baseline_ok, 80);
}

TEST(Recovery, BaselineLeavesOutPartialWindows) {
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

// A service so large that its windows have almost no noise.
constexpr double kLarge = 100;

TEST(Recovery, TimesAreTheStartOfTheFirstOfThreeConsecutiveWindows) {
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
  // All clients wait to retry: no attempts were made, so nothing is known.
  History history;
  history.calm_and_outage().windows(3, 0, 0);
  EXPECT_EQ(history.result().errors_gone, std::nullopt);
  EXPECT_EQ(history.verdict(), Verdict::kUndecided);
  // Attempts without an answer do show something.
  history.windows(1, 0, 20);
  EXPECT_EQ(history.verdict(), Verdict::kCollapsed);
  history.windows(2, 0, 0);
  EXPECT_EQ(history.verdict(), Verdict::kCollapsed);
  // So do attempts that are all answered.
  history.windows(1, 1);
  EXPECT_EQ(history.verdict(), Verdict::kRecovering);
  EXPECT_EQ(history.result().errors_gone, std::nullopt);
  history.windows(2, 1);
  EXPECT_EQ(history.result().errors_gone, 30s);
}

TEST(Recovery, SaysWhy) {
  const auto after = [] { return History().calm_and_outage(); };
  EXPECT_EQ(History().windows(5, 100).reason(), "");
  EXPECT_EQ(after().windows(3, 0, 472).reason(),
            "held-by-retries(attempts=472, retries=472, mended=nothing is broken any more)");
  EXPECT_EQ(after().action().windows(3, 0, 472).reason(),
            "kept-down-by-retries(attempts=472, retries=472)");
  EXPECT_EQ(after().windows(3, 100).reason(), "back-at-once(baseline=100, after=0s)");
  EXPECT_EQ(after().windows(2, 0, 100).windows(3, 100).reason(),
            "back-after(baseline=100, after=10s)");
  EXPECT_EQ(after().windows(3, 100).windows(1, 20).windows(2, 80).reason(),
            "back-at-once(baseline=100, after=0s); low-again(after=15s, ok=60, baseline=100)");
  EXPECT_EQ(after().windows(3, 45, 30).reason(), "below-baseline(ok=45, baseline=100, window=15s)");
  EXPECT_EQ(after().windows(3, 45).reason(),
            "below-baseline-without-errors(ok=45, baseline=100, window=15s)");
  EXPECT_EQ(History().windows(6, 100).stop().windows(2, 100).go_on().windows(3, 100).reason(),
            "back-at-once(baseline=100, after=0s); cost-nothing");
}

TEST(Recovery, SaysWhyItIsUndecided) {
  EXPECT_EQ(History().part(4s, 100).stop().windows(1, 0, 9).go_on().windows(3, 100).reason(),
            "outage-too-early");
  EXPECT_EQ(History().windows(6, 0).stop().windows(4, 0, 9).go_on().windows(3, 100).reason(),
            "no-attempt-before");
  EXPECT_EQ(History().windows(6, 0, 48).stop().windows(4, 0, 9).go_on().windows(3, 0, 48).reason(),
            "down-before(attempts=1200)");
  EXPECT_EQ(History().windows(6, 0.2).stop().windows(4, 0, 1).go_on().windows(8, 0.2).reason(),
            "few-answers-before(answers=5, time=25s)");
  EXPECT_EQ(History().windows(6, 100).stop().windows(4, 0, 9).reason(), "ended-in-outage");
  EXPECT_EQ(History().calm_and_outage().windows(2, 100).reason(), "too-short-after");
  EXPECT_EQ(History().calm_and_outage().windows(3, 0).reason(), "no-attempt-at-end(window=15s)");
}

TEST(Recovery, KnowsWhenErrorsWereGoneWithoutABaseline) {
  History history;
  history.part(4s, 100).stop().windows(1, 0, 100).go_on().windows(1, 50, 50).windows(3, 100);
  EXPECT_EQ(history.verdict(), Verdict::kUndecided);
  EXPECT_EQ(history.result().errors_gone, 5s);
  EXPECT_EQ(history.result().time_to_recovery, std::nullopt);
}

// As little as in a calm in which most attempts fail is no recovery.
TEST(Recovery, SaysThatTheServiceWasUnwellBeforeTheOutage) {
  const auto after_calm_of = [](double ok) {
    return History()
        .windows(6, ok, 100 - ok)
        .stop()
        .windows(4, 0, 100)
        .go_on()
        .windows(4, ok, 100 - ok)
        .result();
  };
  EXPECT_EQ(after_calm_of(49).verdict, Verdict::kUndecided);
  EXPECT_EQ(test::facts(after_calm_of(49).causes), "not-well-before(share=0.49)");
  EXPECT_EQ(after_calm_of(50).verdict, Verdict::kRecovered);
  EXPECT_EQ(test::facts(after_calm_of(50).causes),
            "back-at-once(baseline=50, after=0s); unwell-before(share=0.5)");
  EXPECT_EQ(test::facts(after_calm_of(95).causes), "back-at-once(baseline=95, after=0s)");
  EXPECT_EQ(
      History()
          .windows(6, 60, 40)
          .stop()
          .windows(4, 0, 100)
          .go_on()
          .queues({1175, 940, 705, 470}, 0, 188)
          .reason(),
      "queue-drains(ok=0, baseline=60, waiting=470, rate=47, left=10s); unwell-before(share=0.6)");
}

// The result with a window for each of these lengths of the queue at its end, with this many attempts/s.
Recovery with_queue(const std::vector<std::size_t>& waiting, double attempts = 188) {
  return History().calm_and_outage().queues(waiting, 0, attempts).result();
}

// 188 attempts/s, none of which is in time. Each second, 47 more are served than arrive.
TEST(Recovery, AQueueThatEmptiesIsNotACollapse) {
  const Recovery result = with_queue({1175, 940, 705, 470});
  EXPECT_EQ(result.verdict, Verdict::kRecovering);
  EXPECT_EQ(test::facts(result.causes),
            "queue-drains(ok=0, baseline=100, waiting=470, rate=47, left=10s)");
  // 20 s that have passed, 10 s more and four windows are 50 s.
  EXPECT_EQ(result.to_watch, 1min);
  // The queue must get shorter over three windows,
  EXPECT_EQ(with_queue({1000, 1175, 940, 705, 470}).verdict, Verdict::kRecovering);
  EXPECT_EQ(with_queue({1175, 705, 940, 470}).verdict, Verdict::kRecovering);
  EXPECT_EQ(with_queue({940, 705, 470}).verdict, Verdict::kCollapsed) << "it got shorter twice";
  // and by more than random noise: 2.5 sqrt(2 * 2820) = 187.7.
  EXPECT_EQ(with_queue({500, 400, 350, 312}).verdict, Verdict::kRecovering);
  EXPECT_EQ(with_queue({500, 400, 350, 313}).verdict, Verdict::kCollapsed);
  EXPECT_EQ(
      test::facts(with_queue({500, 400, 350, 313}).causes),
      "held-by-retries(attempts=188, retries=188, mended=nothing is broken any more); queue-at-end(waiting=313)");
}

// A service that does 200/s, of 187 attempts/s (170 requests, and a budget of a tenth of that). After a
// minute 2,960 wait, which take 2,960 / 13 = 228 s.
TEST(Recovery, AQueueThatEmptiesSlowlyIsNotACollapse) {
  std::vector<std::size_t> waiting;
  for (std::size_t i = 0; i < 12; ++i) waiting.push_back(3675 - i * 65);
  const Recovery result = with_queue(waiting, 187);
  EXPECT_EQ(result.verdict, Verdict::kRecovering);
  EXPECT_EQ(test::facts(result.causes),
            "queue-drains(ok=0, baseline=100, waiting=2960, rate=13, left=3m47.692307692s)");
  EXPECT_EQ(result.to_watch, 6min);  // 60 s + 228 s + 20 s
}

// 3.5/s, of 200 attempts/s: in 55 s 192.5, and the noise of independent clients is 2.5 sqrt(2 * 11,000) = 371.
TEST(Recovery, AQueueThatEmptiesSteadilyIsNotACollapse) {
  std::vector<std::size_t> waiting;
  for (std::size_t i = 0; i < 12; ++i) waiting.push_back(1000 - 35 * i / 2);
  EXPECT_EQ(with_queue(waiting, 200).verdict, Verdict::kRecovering);
  std::swap(waiting[5], waiting[6]);
  EXPECT_EQ(with_queue(waiting, 200).verdict, Verdict::kCollapsed) << "not ten in a row";
}

// A budget that saves for two minutes pays for a wave of retries every two minutes.
TEST(Recovery, AQueueThatFillsAgainAndAgainIsACollapse) {
  EXPECT_EQ(with_queue({7700, 5400, 3100, 9400, 7900, 6400, 4900}).verdict, Verdict::kRecovering)
      << "it filled once";
  EXPECT_EQ(with_queue({7700, 5400, 3100, 9400, 7400, 4900, 11000, 9000, 7000, 5000}).verdict,
            Verdict::kCollapsed);
  // Smaller waves, such as those of a backoff, are none.
  EXPECT_EQ(with_queue({7700, 6700, 7900, 6900, 8000, 6000, 4000, 2000}).verdict,
            Verdict::kRecovering);
}

// 100 OK/s, of 5,000 that wait: by Little's law, each for 50 s. Before, ten did for 0.1 s.
TEST(Recovery, SaysThatTheQueueOfAServiceThatIsBackIsNotEmpty) {
  const auto back_with = [](const std::vector<std::size_t>& waiting) {
    return History()
        .queues({10, 10, 10, 10, 10, 10}, 100, 0)
        .stop()
        .windows(4, 0, 100)
        .go_on()
        .queues(waiting, 100, 0)
        .result();
  };
  const Recovery late = back_with({5200, 5100, 5000});
  EXPECT_EQ(late.verdict, Verdict::kRecovered);
  EXPECT_EQ(late.queue_wait, 50s);
  EXPECT_EQ(test::facts(late.causes),
            "back-at-once(baseline=100, after=0s); queue-left(wait=50s, before=100ms)");
  // One that was long for a while, or that is no longer than a second or ten times the calm's.
  for (const auto& waiting : std::vector<std::vector<std::size_t>>{
           {5000, 5000, 20}, {5000, 20, 5000}, {100, 100, 100}, {99, 5000, 5000}}) {
    EXPECT_EQ(back_with(waiting).queue_wait, std::nullopt);
    EXPECT_EQ(test::facts(back_with(waiting).causes), "back-at-once(baseline=100, after=0s)");
  }
}

// A queue of 1,000 + 3,000 exp(-t / tau) is held at 1,000. In the second half of a time T it falls as
// fast as 2 / (1 + exp(T / 2 tau)) times the mean, so half as fast after T = 2 ln(3) tau = 2.2 tau.
TEST(Recovery, AQueueThatLevelsOffIsACollapse) {
  const auto watched_for = [](double taus, int windows) {
    std::vector<std::size_t> waiting;
    for (int i = 0; i <= windows; ++i) {
      waiting.push_back(static_cast<std::size_t>(1000 + 3000 * std::exp(-i * taus / windows)));
    }
    return with_queue(waiting).verdict;
  };
  for (const int windows : {6, 12, 60}) {
    EXPECT_EQ(watched_for(2, windows), Verdict::kRecovering) << windows;
    EXPECT_EQ(watched_for(2.4, windows), Verdict::kCollapsed) << windows;
    EXPECT_EQ(watched_for(20, windows), Verdict::kCollapsed) << windows;
  }
  // As one that grows again, or is empty already.
  EXPECT_EQ(with_queue({4000, 3000, 2000, 1000, 1500, 2000}).verdict, Verdict::kCollapsed);
  EXPECT_EQ(with_queue({4000, 3000, 2000, 1000, 0}).verdict, Verdict::kCollapsed);
}

TEST(Recovery, SaysThatTheServiceIsGone) {
  EXPECT_EQ(History().calm_and_outage().refused(4, 120).reason(), "service-gone(attempts=120)");
  EXPECT_EQ(History().calm_and_outage().refused(2, 120).windows(2, 0, 120).reason(),
            "held-by-retries(attempts=120, retries=120, mended=nothing is broken any more)");
}

TEST(Recovery, MissesAShareOnlyBeyondCountingNoise) {
  // 25 OK are expected in a window. After a calm phase with 125, ten in one window are 3.05 sigmas too
  // few, and 45 in three windows are 2.99.
  const auto with = [](int first, int second, int third) {
    History history(0.05);
    history.calm_and_outage().windows(1, 4 * first).windows(1, 4 * second).windows(1, 4 * third);
    return history.result();
  };
  EXPECT_EQ(with(25, 11, 25).time_to_recovery, 0s);
  EXPECT_EQ(with(25, 10, 25).time_to_recovery, std::nullopt);
  EXPECT_EQ(with(15, 15, 15).time_to_recovery, 0s);
  EXPECT_EQ(with(15, 14, 15).time_to_recovery, std::nullopt);
  // A rate that is not below the share is never too low.
  EXPECT_EQ(with(13, 13, 13).time_to_half, 0s);
}

TEST(Recovery, IsUndecidedByTooFewAnswers) {
  // Two clients: one OK in a window. None in fifteen seconds is not unusual.
  for (const double ok : {0.0, 0.2, 0.4}) {
    History history;
    history.windows(6, 0.2).stop().windows(4, 0, 1).go_on().windows(8, ok);
    EXPECT_EQ(history.verdict(), Verdict::kUndecided);
    // The times are those of as many answers, or half as many.
    const std::optional<Duration> at_once = ok > 0 ? std::optional(0s) : std::nullopt;
    EXPECT_EQ(history.result().time_to_recovery, at_once) << ok;
    EXPECT_EQ(history.result().time_to_half, at_once) << ok;
  }
  // Twenty clients are enough for a clear case.
  EXPECT_EQ(History(0.02).calm_and_outage().windows(3, 100).verdict(), Verdict::kRecovered);
  EXPECT_EQ(History(0.02).calm_and_outage().windows(3, 0, 400).verdict(), Verdict::kCollapsed);
}

TEST(Recovery, FindsTheRelapseOfAFewClients) {
  const auto then = [](double size, int windows, double ok) {
    return History(size).calm_and_outage().windows(3, 100).windows(windows, ok, 400).verdict();
  };
  // A hundred clients: one window without an OK, or half of it for fifteen seconds.
  EXPECT_EQ(then(0.1, 1, 0), Verdict::kRelapsed);
  EXPECT_EQ(then(0.1, 3, 50), Verdict::kRelapsed);
  EXPECT_EQ(then(0.1, 1, 50), Verdict::kRecovered);  // 3.6 sigmas are not enough
  // Twenty clients: fifteen seconds without an OK.
  EXPECT_EQ(then(0.02, 3, 0), Verdict::kRelapsed);
  // Watched for an hour, with a low phase, after which it is well again.
  History history(0.1);
  history.calm_and_outage().windows(300, 100).windows(3, 0, 400).windows(400, 100);
  EXPECT_EQ(history.verdict(), Verdict::kRelapsed);
}

class PoissonCounts {
 public:
  explicit PoissonCounts(std::uint64_t seed) : random_(seed, 0) {}

  // Arrivals until the time is over.
  std::uint64_t next(double mean) {
    std::uint64_t count = 0;
    for (Duration t = random_.exponential(1s); t < from_seconds(mean);
         t += random_.exponential(1s)) {
      ++count;
    }
    return count;
  }

 private:
  ClientRandom random_;
};

// Windows of Poisson counts: a service without any fault.
class Healthy {
 public:
  Healthy(double ok_per_window, std::uint64_t seed) : counts_(seed), mean_(ok_per_window) {}

  Recovery watch(int windows) {
    RecoveryTracker tracker(now_);
    const auto pass = [&](int count) {
      for (int i = 0; i < count; ++i) {
        const std::uint64_t ok = counts_.next(mean_);
        totals_.ok += ok;
        totals_.requests += ok;
        totals_.attempts += ok;
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
  PoissonCounts counts_;
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

// The more windows there are, the more likely is a low one.
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

// In how many of a thousand runs of a minute is a queue said to be emptying? Attempts are Poisson counts of 187/s.
// So are those that are served, where their times vary as much as these, or their number is fixed.
int emptying(double served_per_s, bool varies) {
  constexpr double kPerWindow = 5 * 187;
  int recovering = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    PoissonCounts counts(seed);
    double length = 4000;
    std::vector<std::size_t> waiting;
    for (int window = 0; window < 12; ++window) {
      const double served = 5 * served_per_s;
      length += static_cast<double>(counts.next(kPerWindow)) -
                (varies ? static_cast<double>(counts.next(served)) : served);
      waiting.push_back(static_cast<std::size_t>(length));
    }
    recovering += with_queue(waiting, 187).verdict == Verdict::kRecovering ? 1 : 0;
  }
  return recovering;
}

// The fall since each of nine windows may be called more than noise by chance, with P(Z > 2.5) = 0.62 %: at most
// 56 in 1,000 runs, and three standard deviations more.
TEST(RecoveryNoise, AQueueThatDoesNotEmptyIsNotSaidTo) {
  EXPECT_LE(emptying(187, true), 56 + 22);
}

// 13/s make 715 from the end of the first window on, with a standard deviation of sqrt(55 * 187) = 101. The noise
// that is allowed for is 359, so 3.5 deviations less. The fall of the second half is 3.4 deviations more than a
// quarter. Together that misses 0.6 in 1,000 runs, and three deviations more.
TEST(RecoveryNoise, AQueueThatEmptiesSlowlyIsSaidTo) {
  EXPECT_GE(emptying(200, false), 1000 - 3);
}

TEST(Recovery, LowWindowsBeforeTheRecoveryAreNoRelapse) {
  EXPECT_EQ(History().calm_and_outage().windows(4, 5, 100).windows(3, 95).verdict(),
            Verdict::kRecovered);
}

TEST(Recovery, IsRecoveringWhenErrorsAreGone) {
  // As with responsive clients that still sleep: 5 % of the baseline, but nothing fails.
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
  // 20 s of outage without any answer, 10 s at half the rate: 2000 + 500.
  History history;
  history.calm_and_outage().windows(2, 50).windows(3, 100);
  EXPECT_NEAR(history.result().ok_lost, 2500, 1e-6);
  // Answers missing after the recovery are not counted.
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

TEST(Recovery, NeverLosesANegativeNumber) {
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

// After the last window of the outage, often a fraction of a millisecond remains.
TEST(Recovery, PeakIsNotTheRateOfAnInstant) {
  History history;
  history.windows(6, 100).stop().windows(4, 0, 200).part(1ms, 0, 3000).go_on().windows(3, 100);
  EXPECT_EQ(history.result().peak_attempts, 200);
}

TEST(Recovery, WindowsAreAlignedToTheStartAndToBothEndsOfTheOutage) {
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

TEST(Recovery, LateEngineJoinsTheMissedWindowsToOne) {
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

// The run began at 1000 s of its clock; the outage is over after 50 s.
TEST(Recovery, IsNotRevokedByAnotherDisturbance) {
  History history;
  history.calm_and_outage().windows(6, 100);
  history.fault_begins("errors:1").windows(2, 0, 100);
  EXPECT_EQ(history.verdict(), Verdict::kRecovered) << "it is in force";
  EXPECT_THAT(history.reason(), HasSubstr("; not-judged-since(what=errors:1, at=1:20)"));
  history.fault_ends("errors:1").windows(2, 0, 300);
  EXPECT_EQ(history.verdict(), Verdict::kRecovered) << "too soon to tell";
  history.windows(4, 100);
  EXPECT_EQ(history.verdict(), Verdict::kRecovered) << "it has come back from both";
  EXPECT_EQ(history.reason(), "back-at-once(baseline=100, after=0s)");
  EXPECT_EQ(history.result().time_to_recovery, 0s);
  history.windows(3, 20, 300);
  EXPECT_EQ(history.verdict(), Verdict::kRelapsed) << "nothing disturbs it then";
}

TEST(Recovery, NamesTheDisturbanceThatItDoesNotComeBackFrom) {
  History history;
  history.calm_and_outage().windows(6, 100).fault_begins("errors:1").windows(2, 0, 100);
  history.fault_ends("errors:1").windows(3, 0, 300);
  EXPECT_EQ(history.verdict(), Verdict::kCollapsed);
  EXPECT_EQ(history.reason(),
            "kept-down-by-retries(attempts=300, retries=300); since(what=errors:1, at=1:20)");
  history.windows(1, 50, 50);
  EXPECT_EQ(history.verdict(), Verdict::kRecovering);
  EXPECT_EQ(history.reason(),
            "below-baseline(ok=16.6667, baseline=100, window=15s); since(what=errors:1, at=1:20)");
}

TEST(Recovery, IsStillDownWhenItIsDisturbedOnceMore) {
  History history;
  history.calm_and_outage().windows(6, 100).disturb("restart").windows(4, 0, 300);
  history.disturb("set x=1").windows(2, 50, 100);
  EXPECT_EQ(history.verdict(), Verdict::kCollapsed);
  EXPECT_EQ(history.reason(),
            "kept-down-by-retries(attempts=300, retries=300); since(what=restart, at=1:20); "
            "not-judged-since(what=set x=1, at=1:40)");
}

// What ends within the first windows after the outage leaves nothing to judge, or what was there before it.
TEST(Recovery, IsJudgedWhereNothingElseDisturbs) {
  History soon, late;
  soon.calm_and_outage().windows(2, 0, 300).fault_begins("slow:2").windows(8, 0, 300);
  EXPECT_EQ(soon.verdict(), Verdict::kUndecided);
  EXPECT_EQ(soon.reason(), "disturbed-after(what=slow:2, at=1:00)");
  late.calm_and_outage().windows(3, 0, 300).disturb("restart").windows(2, 90, 10);
  EXPECT_EQ(late.verdict(), Verdict::kCollapsed);
  EXPECT_EQ(
      late.reason(),
      "kept-down-by-retries(attempts=300, retries=300); not-judged-since(what=restart, at=1:05)");
  late.windows(2, 100);
  EXPECT_EQ(late.verdict(), Verdict::kRecovered);
}

// The queue falls by 20/s, and would be empty at 1:32.5. From 1:15 on there is less capacity: it grows.
TEST(Recovery, IsNotJudgedOnItsWayBackBeforeLessCapacityUntilTheEnd) {
  const auto begun = [] {
    History history;
    history.calm_and_outage().queues({750, 650, 550, 450, 350}, 0, 100);
    EXPECT_EQ(history.verdict(), Verdict::kRecovering);
    return history;
  };
  History capacity = begun();
  capacity.disturb("capacity 0.3", Lasting::kLess).queues({500, 700, 900, 1100}, 0, 100);
  EXPECT_EQ(capacity.verdict(), Verdict::kUndecided);
  EXPECT_EQ(capacity.reason(), "not-back-before(what=capacity 0.3, at=1:15)");
  EXPECT_EQ(capacity.result().to_watch, std::nullopt);
  History fault = begun();
  fault.fault_begins("slow:9").queues({500, 700, 900, 1100}, 0, 100);
  EXPECT_EQ(fault.verdict(), Verdict::kUndecided);
  EXPECT_EQ(fault.reason(), "not-back-before(what=slow:9, at=1:15)");
  // With all of the capacity it is judged again, and by what held it down since.
  capacity.disturb("capacity 1", Lasting::kAllOfIt).queues({1100, 1200, 1300, 1400}, 0, 100);
  EXPECT_EQ(capacity.verdict(), Verdict::kCollapsed);
  fault.fault_ends("slow:9").windows(4, 100);
  EXPECT_EQ(fault.verdict(), Verdict::kRecovered);
}

TEST(Recovery, IsNotJudgedOnItsWayBackBeforeASettingThatStays) {
  for (const Lasting leaves : {Lasting::kSetting, Lasting::kLoad}) {
    History history, drains;
    history.calm_and_outage().windows(4, 30, 70).disturb("that", leaves).windows(5, 20, 80);
    EXPECT_EQ(history.verdict(), Verdict::kUndecided);
    EXPECT_EQ(history.reason(), "not-back-before(what=that, at=1:10)");
    history.windows(3, 100);
    EXPECT_EQ(history.verdict(), Verdict::kRecovered) << "that did not keep it from coming back";
    drains.calm_and_outage().queues({900, 800, 700}, 0, 100).disturb("that", leaves);
    drains.queues({600, 500, 400, 300}, 0, 100);
    EXPECT_EQ(drains.verdict(), Verdict::kRecovering) << "it is on its way back still";
  }
}

// A setting may be tried as a remedy. It is judged whether it helps, if the service was down.
TEST(Recovery, IsJudgedAfterASettingThatMayHelp) {
  for (const int before : {2, 5}) {
    History history;
    history.calm_and_outage().windows(before, 0, 300).disturb("set x=1", Lasting::kSetting);
    EXPECT_EQ(history.windows(5, 0, 300).verdict(), Verdict::kCollapsed);
    EXPECT_THAT(history.reason(), HasSubstr("kept-down-by-retries(attempts=300, retries=300); "));
    EXPECT_EQ(history.windows(3, 100).verdict(), Verdict::kRecovered);
  }
}

TEST(Recovery, IsNotRevokedByWhatStays) {
  for (const Lasting leaves : {Lasting::kSetting, Lasting::kLess}) {
    History history;
    history.calm_and_outage().windows(6, 100).disturb("that", leaves).windows(6, 50, 50);
    EXPECT_EQ(history.verdict(), Verdict::kRecovered);
    EXPECT_EQ(history.reason(),
              "back-at-once(baseline=100, after=0s); not-judged-since(what=that, at=1:20)");
  }
  // The load is another matter, because the baseline follows it.
  History load;
  load.calm_and_outage().windows(6, 100).disturb("load 2", Lasting::kLoad).windows(6, 0, 300);
  EXPECT_EQ(load.verdict(), Verdict::kCollapsed);
  EXPECT_EQ(load.reason(),
            "kept-down-by-retries(attempts=300, retries=300); since(what=load 2, at=1:20)");
}

TEST(Recovery, IsNotJudgedWithLessCapacityFromTheOutageOn) {
  History soon, within;
  soon.calm_and_outage().windows(2, 0, 300).disturb("capacity 0.3", Lasting::kLess);
  soon.windows(8, 0, 300);
  EXPECT_EQ(soon.verdict(), Verdict::kUndecided);
  EXPECT_THAT(soon.reason(), HasSubstr("disturbed-after(what=capacity 0.3, at=1:00)"));
  within.windows(6, 100).stop().windows(2, 0, 100).disturb("capacity 0.3", Lasting::kLess);
  within.windows(2, 0, 100).go_on().windows(8, 0, 300);
  EXPECT_EQ(within.verdict(), Verdict::kUndecided);
  EXPECT_THAT(within.reason(), HasSubstr("(what=capacity 0.3, at=0:40)"));
}

// What was in force before the outage is in the baseline.
TEST(Recovery, IsJudgedInAFaultOfTheWholeRun) {
  History history;
  history.fault_begins("errors:0.1").calm_and_outage().windows(6, 0, 300);
  EXPECT_EQ(history.verdict(), Verdict::kCollapsed);
}

// 100 OK/s, then 30 from 20 s on. The window from 20 s to 25 s has the change, so that the baseline is that of the next.
TEST(Recovery, HasTheBaselineOfTheLoadThatIsInForceWhenTheOutageBegins) {
  History history;
  history.windows(4, 100).load(0.3).windows(2, 30).stop().windows(4, 0, 30).go_on();
  EXPECT_EQ(history.windows(3, 30).verdict(), Verdict::kRecovered);
  EXPECT_EQ(history.result().baseline_ok, 30);
  EXPECT_NEAR(history.result().ok_lost, 20 * 30, 1e-6);
  // What changes later is measured against it: 30 OK/s of a load of 0.3 are 100 of 1.
  history.load(1).windows(4, 50, 50);
  EXPECT_EQ(history.reason(),
            "below-baseline(ok=50, baseline=100, window=15s); since(what=load 1.000000, at=1:05)");
}

TEST(Recovery, HasTheBaselineSinceTheLastFaultBeforeTheOutage) {
  History history;
  history.windows(2, 100).fault_begins("errors:0.5").windows(2, 50, 50).fault_ends("errors:0.5");
  history.windows(1, 70).windows(1, 100).stop().windows(4, 0, 100).go_on().windows(3, 60, 40);
  EXPECT_EQ(history.result().baseline_ok, 100);
  EXPECT_EQ(history.verdict(), Verdict::kRecovering);
}

TEST(Recovery, IsNotJudgedWithoutACalmSinceTheLastChange) {
  const auto run = [](History& history) {
    history.stop().windows(4, 0, 30).go_on().windows(6, 30);
    EXPECT_EQ(history.verdict(), Verdict::kUndecided);
    EXPECT_EQ(history.result().baseline_ok, std::nullopt);
    return history.reason();
  };
  const std::string begins = "change-before-outage(what=";
  History load, fault, part;
  load.windows(5, 100).load(0.3).windows(1, 30);
  EXPECT_EQ(run(load), begins + "load 0.300000, at=0:25)");
  fault.windows(2, 100).fault_begins("drop").windows(3, 0, 100).fault_ends("drop").windows(1, 100);
  EXPECT_EQ(run(fault), begins + "the end of drop, at=0:25)");
  part.windows(5, 100).part(1s, 100).disturb("restart").part(2s, 100);
  EXPECT_EQ(run(part), begins + "restart, at=0:26)");
}

// What is set when the run begins, or just as the outage begins, changes nothing in the calm.
TEST(Recovery, HasAllOfTheCalmIfNothingChangesInIt) {
  History first, last;
  first.load(0.5).windows(1, 50).stop().windows(4, 0, 50).go_on().windows(3, 50);
  EXPECT_EQ(first.verdict(), Verdict::kRecovered);
  last.windows(6, 100).stop().load(0.5).windows(4, 0, 50).go_on().windows(3, 50);
  EXPECT_EQ(last.verdict(), Verdict::kRecovered);
}

TEST(Recovery, FollowsTheLoadThatTheUserSets) {
  for (const double factor : {0.2, 0.5, 2.0}) {
    History history;
    history.calm_and_outage().windows(3, 0, 100).load(factor).windows(4, 100 * factor);
    EXPECT_EQ(history.verdict(), Verdict::kRecovered) << factor;
    // The first five are missed until then: 20 s of the outage and 15 s.
    EXPECT_NEAR(history.result().ok_lost, 3500, 1e-6) << factor;
  }
  History half;
  half.calm_and_outage().windows(3, 0, 100).load(0.5).windows(4, 20, 20);
  EXPECT_EQ(half.verdict(), Verdict::kRecovering);
  EXPECT_EQ(half.reason(), "below-baseline(ok=20, baseline=50, window=15s)");
}

// 100 clients that get 50 OK/s, and think for 1 s each: half of a cycle of 2 s. With three times the load a cycle is
// 1 + 1/3 s, so that they want 75/s.
TEST(Recovery, ExpectsOfClosedClientsWhatTheirThinkTimeLeaves) {
  History history;
  history.windows(6, 50).stop().windows(4, 0, 100).go_on().windows(3, 0, 100);
  history.load(3, 1. / 100).windows(4, 40, 10);
  EXPECT_EQ(history.reason(), "below-baseline(ok=40, baseline=75, window=15s)");
}

TEST(Recovery, AnotherOutageStartsTheVerdictAgain) {
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
