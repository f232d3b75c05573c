#include "model/run/recovery.h"

#include "model/base/random.h"
#include "model/base/text.h"
#include "tests/support/facts.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// A run, as an engine gives it: windows of five seconds and what happens between them. The rates are per second, for
// a service that is `size` times as large. It is written in words:
//
//   6*100  4*0/300     windows with so many OK and failed attempts/s; 1*80/50/100: of so many requests/s, not only of the OK
//   [  ]               an outage begins, ends; "down" is 6*100 [ 4*0/100 ]
//   part:2s*0/100      a part of a window that does not end; late:...: the engine closes it then
//   queue:500,400*0/9  windows at whose end so many requests wait
//   gone:2*120         windows in which so many attempts/s find that nothing listens
//   !restart           a disturbance besides; !that>setting, load, less, all: what it leaves
//   +slow:2  -slow:2   one that begins, ends
//   load:0.5           the load that the user sets; load:3:0.01: that and the share that thinks
//   can:150            what the service can answer from now on
//   changed            more than the outage's end mends
class History {
 public:
  explicit History(std::string_view run = "", double size = 1) : size_(size) { play(run); }

  History& play(std::string_view run) {
    for (const std::string_view word : split(run, ' ')) {
      if (!word.empty()) take(word);
    }
    return *this;
  }

  Recovery result() const { return tracker_.recovery(); }
  Verdict verdict() const { return result().verdict; }
  std::string reason() const { return test::facts(result().causes); }
  const RecoveryTracker& tracker() const { return tracker_; }
  TimePoint now() const { return now_; }

 private:
  void take(std::string_view word) {
    const std::size_t star = word.find('*');
    const std::string_view rates = word.substr(std::min(star, word.size() - 1) + 1);
    const auto what = [](std::string_view text) {
      std::string named(text);
      std::replace(named.begin(), named.end(), '_', ' ');
      return named;
    };
    const auto number = [](std::string_view text) { return std::stod(std::string(text)); };
    const auto rest = [&](std::string_view prefix) { return word.substr(prefix.size()); };
    if (word == "down") {
      play("6*100 [ 4*0/100 ]");
    } else if (word == "[") {
      tracker_.outage_begins(now_, totals_);
    } else if (word == "]") {
      tracker_.outage_ends(now_, totals_);
    } else if (word == "changed") {
      tracker_.note_change();
    } else if (word.starts_with("!")) {
      const std::string_view named = word.substr(1, word.find('>') - 1);
      const std::string_view leaves = word.substr(std::min(word.find('>'), word.size() - 1) + 1);
      tracker_.disturb(now_, what(named),
                       leaves == "setting" ? Lasting::kSetting
                       : leaves == "load"  ? Lasting::kLoad
                       : leaves == "less"  ? Lasting::kLess
                       : leaves == "all"   ? Lasting::kAllOfIt
                                           : Lasting::kNothing);
    } else if (word.starts_with("+")) {
      tracker_.disturbance_begins(now_, what(rest("+")));
    } else if (word.starts_with("-")) {
      tracker_.disturbance_ends(now_, what(rest("-")));
    } else if (word.starts_with("load:")) {
      const auto values = split(rest("load:"), ':');
      const double factor = number(values[0]);
      tracker_.disturb(now_, "load " + std::string(values[0]));
      tracker_.set_load(now_, factor,
                        values.size() > 1 ? std::optional(number(values[1])) : std::nullopt);
    } else if (word.starts_with("can:")) {
      tracker_.set_capacity(size_ * number(rest("can:")));
    } else if (word.starts_with("part:") || word.starts_with("late:")) {
      const Duration length = parse_duration(word.substr(5, star - 5));
      add(rates, to_seconds(length));
      now_ += length;
      if (word.starts_with("late:")) tracker_.close_window(now_, totals_);
    } else if (word.starts_with("queue:")) {
      for (const std::string_view each : split(word.substr(6, star - 6), ',')) {
        window(rates, static_cast<std::size_t>(number(each)));
      }
    } else if (word.starts_with("gone:")) {
      for (int i = std::stoi(std::string(rest("gone:"))); i > 0; --i) {
        const std::uint64_t before = totals_.timed_out;
        add("0/" + std::string(rates), 5);
        const std::uint64_t each = std::exchange(totals_.timed_out, before) - before;
        totals_.errors += each;
        totals_.errors_by[error_kind(not_connected(0s, NoAnswer::kRefused))] += each;
        pass();
      }
    } else {
      for (int i = std::stoi(std::string(word)); i > 0; --i) window(rates);
    }
  }

  void window(std::string_view rates, std::optional<std::size_t> waiting = std::nullopt) {
    add(rates, 5);
    pass(waiting);
  }
  void pass(std::optional<std::size_t> waiting = std::nullopt) {
    now_ += 5s;
    tracker_.close_window(now_, totals_, waiting);
  }

  // "100/50": OK and failed attempts. "80/50/100": and requests.
  void add(std::string_view rates, double seconds) {
    const auto each = split(rates, '/');
    const auto some = [&](std::size_t i) {
      const double rate = i < each.size() ? std::stod(std::string(each[i])) : 0;
      return static_cast<std::uint64_t>(size_ * rate * seconds + 0.5);
    };
    totals_.ok += some(0);
    totals_.timed_out += some(1);
    totals_.requests += some(each.size() > 2 ? 2 : 0);
    totals_.attempts += some(0) + some(1);
    totals_.retries += some(1);
  }

  const double size_;
  TimePoint now_{1000s};
  RecoveryTracker tracker_{now_};
  Counts totals_;
};

struct VerdictRow {
  std::string run;
  Verdict verdict;
  const char* causes = nullptr;  // null: whatever they are
  double size = 1;
};

void expect_verdicts(const std::vector<VerdictRow>& rows) {
  for (const VerdictRow& row : rows) {
    const History history(row.run, row.size);
    EXPECT_EQ(history.verdict(), row.verdict) << row.run << ": " << history.reason();
    if (row.causes != nullptr) {
      EXPECT_EQ(history.reason(), row.causes) << row.run;
    }
  }
}

TEST(Recovery, NamesItsVerdicts) {
  EXPECT_EQ(to_string(Verdict::kNoOutage), "no outage");
  EXPECT_EQ(to_string(Verdict::kUndecided), "undecided");
  EXPECT_EQ(to_string(Verdict::kRecovered), "recovered");
  EXPECT_EQ(to_string(Verdict::kRelapsed), "relapsed");
  EXPECT_EQ(to_string(Verdict::kRecovering), "recovering");
  EXPECT_EQ(to_string(Verdict::kCollapsed), "collapsed");
}

TEST(Recovery, SaysThatAServiceIsDownWithoutAnOutage) {
  using enum Verdict;
  // 5,000 wait, and 200 fewer after each window of 5 s: nobody knows yet whether it comes back.
  const std::string draining =
      "6*100 queue:5000,4800,4600,4400,4200,4000,3800,3600,3400,3200,3000*0/400";
  expect_verdicts({
      {"", kNoOutage, ""},
      {"5*100", kNoOutage, ""},
      {"10*100/50", kNoOutage},
      {"6*100 3*0/400", kCollapsed,
       "down-by-itself(window=15s, ok=0, baseline=100, attempts=400, retries=400)"},
      {"6*100 2*0/400", kNoOutage},
      {"6*100 3*0", kNoOutage},
      // Two windows are too few for either.
      {"2*0/20", kUndecided, "none-ok-yet(attempts=200)"},
      {"2*1/20", kNoOutage},
      {"2*0", kUndecided, "none-sent(attempts=0)"},
      {"1*100 1*0", kUndecided, "none-ok-now(attempts=0)"},
      {"3*0/20", kCollapsed, "never-well(count=300, window=15s, attempts=20, retries=20)"},
      // Too few attempts; a service that is metered; the end of a job.
      {"3*0/0.4", kNoOutage},
      {"6*15/100000", kNoOutage},
      {"6*100 3*5", kNoOutage},
      {draining, kRecovering,
       "queue-drains(ok=0, baseline=100, waiting=3000, rate=40, left=1m15s)"},
  });
  EXPECT_EQ(History("6*100 3*0/400").tracker().verdict(), kCollapsed);
  EXPECT_GT(History(draining).result().to_watch, 30s + 55s + 75s);
  const Recovery calm = History("10*100/50").result();
  EXPECT_EQ(calm.errors_gone, std::nullopt);
  EXPECT_EQ(calm.ok_lost, 0);
}

// Nothing failed in twenty seconds: the outage may not have happened.
TEST(Recovery, KnowsAnOutageThatWasNotFelt) {
  const std::pair<const char*, bool> rows[] = {
      {"6*100 [ 4*100 ] 4*100", true},
      {"6*100 [ 4*100/1 ] 4*100", false},
      {"6*100 [ 4*50 ] 4*100", false},
      // Of 500 answers in 5 s chance takes up to three roots, 67, and 55 are missing.
      {"6*100 [ 1*89 ] 4*100", true},
      {"6*100 [ 4*0 ] 4*100", false},
      // A third fails in the calm: 1,000 in 20 s, and chance adds three roots, 95.
      {"6*100/50 [ 4*100/50 ] 4*100/50", true},
      {"6*100/50 [ 4*100/54 ] 4*100/50", true},
      {"6*100/50 [ 4*100/60 ] 4*100/50", false},
      {"6*100/50 [ 4*50/50 ] 4*100/50", false},
      {"6*100 [ part:1ms*100 ] 4*100", false},
  };
  for (const auto& [run, unfelt] : rows) EXPECT_EQ(History(run).result().unfelt, unfelt) << run;
}

// Without the first window, and without partial ones.
TEST(Recovery, HasABaseline) {
  const std::pair<const char*, std::optional<double>> rows[] = {
      {"1*10 2*90 2*110", 100},
      {"1*80", 80},
      {"3*100 part:4s*20 [", 100},
      {"part:4s*100 [ 1*0/100 ] 3*100", std::nullopt},
      {"4*100 load:0.3 2*30 [ 4*0/30 ] 3*30", 30},
      {"2*100 +errors:0.5 2*50/50 -errors:0.5 1*70 1*100 [ 4*0/100 ] 3*60/40", 100},
      {"down 5*0/476 [ 1*0 ] 3*100", 100},
  };
  for (const auto& [run, baseline] : rows) {
    EXPECT_EQ(History(run).result().baseline_ok, baseline) << run;
  }
}

// A service so large that its windows have almost no noise.
constexpr double kLarge = 100;

// The times are the starts of the first of three consecutive windows.
TEST(Recovery, MeasuresTimes) {
  using Time = std::optional<Duration>;
  constexpr Time kNever = std::nullopt;
  struct Times {
    const char* run;
    Time Recovery::*which;
    Time time;
    double size = 1;
  };
  const auto gone = &Recovery::errors_gone, half = &Recovery::time_to_half,
             back = &Recovery::time_to_recovery, full = &Recovery::time_to_full;
  const char* const steps =
      "down 1*0/200 1*40/10 2*60 1*92 1*80 2*91 3*96";  // one window at 92 is not enough
  const std::vector<Times> rows{
      {steps, gone, 10s, kLarge},
      {steps, half, 10s, kLarge},
      {steps, back, 30s, kLarge},
      {steps, full, 40s, kLarge},
      {"down 3*100", gone, 0s},
      {"down 3*100", back, 0s},
      // Thresholds include their bound.
      {"down 3*90", back, 0s, kLarge},
      {"down 3*89.8", back, kNever, kLarge},
      {"down 3*50", half, 0s, kLarge},
      {"down 3*49.8", half, kNever, kLarge},
      {"down 3*95", full, 0s, kLarge},
      {"down 3*94.8", full, kNever, kLarge},
      // Errors are gone at one percent of the attempts.
      {"down 3*99/1", gone, 0s},
      {"down 3*98.8/1.2", gone, kNever},
      // Without an attempt nothing is known.
      {"down 3*0", gone, kNever},
      {"down 3*0 1*0/20 2*0 1*1", gone, kNever},
      {"down 3*0 1*0/20 2*0 3*1", gone, 30s},
      // Without a baseline.
      {"part:4s*100 [ 1*0/100 ] 1*50/50 3*100", gone, 5s},
      {"part:4s*100 [ 1*0/100 ] 1*50/50 3*100", back, kNever},
      // 25 OK are expected in a window. After a calm phase with 125, ten in one window are 3.05 sigmas too
      // few, and 45 in three windows are 2.99.
      {"down 1*100 1*44 1*100", back, 0s, 0.05},
      {"down 1*100 1*40 1*100", back, kNever, 0.05},
      {"down 1*60 1*60 1*60", back, 0s, 0.05},
      {"down 1*60 1*56 1*60", back, kNever, 0.05},
      // A rate that is not below the share is never too low.
      {"down 1*52 1*52 1*52", half, 0s, 0.05},
      // With too few answers the times are those of as many answers, or half as many.
      {"6*0.2 [ 4*0/1 ] 8*0", back, kNever},
      {"6*0.2 [ 4*0/1 ] 8*0", half, kNever},
      {"6*0.2 [ 4*0/1 ] 8*0.2", back, 0s},
      {"6*0.2 [ 4*0/1 ] 8*0.2", half, 0s},
      {"6*0.2 [ 4*0/1 ] 8*0.4", back, 0s},
      {"6*0.2 [ 4*0/1 ] 8*0.4", half, 0s},
  };
  for (const auto& [run, which, time, size] : rows) {
    EXPECT_EQ(History(run, size).result().*which, time) << run << ' ' << size;
  }
}

TEST(Recovery, HasAVerdict) {
  using enum Verdict;
  const char* const back = "back-at-once(baseline=100, after=0s)";
  expect_verdicts({
      // Before three windows have passed.
      {"6*100 [", kUndecided},
      {"6*100 [ 4*0/9", kUndecided, "ended-in-outage"},
      {"down", kUndecided},
      {"down 2*100", kUndecided, "too-short-after"},
      {"down 3*100", kRecovered, back},
      {"down 2*0/100 3*100", kRecovered, "back-after(baseline=100, after=10s)"},
      {"6*100 [ 2*100 ] 3*100", kRecovered, "back-at-once(baseline=100, after=0s); cost-nothing"},
      {"down 1*0/200 1*40/10 2*60 1*92 1*80 2*91 3*96", kRecovered, nullptr, kLarge},
      // A later window is under three quarters.
      {"down 3*95 1*75", kRecovered},
      {"down 3*95 1*74.8", kRelapsed},
      {"down 3*95 1*20 5*100", kRelapsed},
      {"down 3*100 1*20 2*80", kRelapsed,
       "back-at-once(baseline=100, after=0s); low-again(after=15s, ok=60, baseline=100)"},
      // Low windows before the recovery are no relapse.
      {"down 4*5/100 3*95", kRecovered},
      {"down 3*0/472", kCollapsed, "held-by-retries(attempts=472, retries=472)"},
      {"down changed 3*0/472", kCollapsed, "kept-down-by-retries(attempts=472, retries=472)"},
      {"down gone:4*120", kCollapsed, "service-gone(window=15s, attempts=120)"},
      {"down gone:2*120 2*0/120", kCollapsed, "held-by-retries(attempts=120, retries=120)"},
      {"down 3*45/30", kRecovering, "below-baseline(ok=45, baseline=100, window=15s)"},
      {"down 3*45", kRecovering, "below-baseline-without-errors(ok=45, baseline=100, window=15s)"},
      // As with responsive clients that still sleep: 5 % of the baseline, but nothing fails.
      {"down 3*5", kRecovering},
      {"down 3*10/300", kRecovering},
      {"down 3*9.8/300", kCollapsed},
      {"down 3*89/300", kRecovering},
      // As much as before is no way back, if attempts are not fewer either. Ten percent more or less are chance.
      {"down 6*20/80", kCollapsed,
       "held-by-retries(attempts=100, retries=80); stays-low(ok=20, baseline=100)"},
      {"down 5*20/80", kRecovering},
      {"down 3*20/80 3*22/78", kCollapsed},
      {"down 3*20/80 3*26/74", kRecovering},
      {"down 3*20/80 3*20/60", kRecovering},
      {"down 3*20/80 3*20", kRecovering},
      {"down 12*49/80", kCollapsed},
      {"down 12*51/80", kCollapsed},
      {"down 12*80/80", kRecovering},
      {"down 9*10/80 3*30/80", kRecovering},
      {"down 6*10/80 12*30/80", kCollapsed},
      // Its last three windows decide.
      {"down 3*0/476", kCollapsed},
      {"down 2*80/50 3*0/476", kCollapsed},
      {"down 3*0/476 1*20/400", kRecovering},
      // All clients wait to retry: no attempts were made, so nothing is known. Attempts without an answer do show
      // something. So do attempts that are all answered.
      {"down 3*0", kUndecided, "no-attempt-at-end(window=15s)"},
      {"down 3*0 1*0/20", kCollapsed},
      {"down 3*0 1*0/20 2*0", kCollapsed},
      {"down 3*0 1*0/20 2*0 1*1", kRecovering},
      {"part:4s*100 [ 1*0/9 ] 3*100", kUndecided, "outage-too-early"},
      {"part:4s*100 [ 1*0/100 ] 1*50/50 3*100", kUndecided},
      {"6*0 [ 4*0/9 ] 3*100", kUndecided, "no-attempt-before"},
      {"6*0/48 [ 4*0/9 ] 3*0/48", kUndecided, "down-before(attempts=1200)"},
      // Two clients: one OK in a window. None in fifteen seconds is not unusual.
      {"6*0.2 [ 4*0/1 ] 8*0", kUndecided},
      {"6*0.2 [ 4*0/1 ] 8*0.2", kUndecided, "few-answers-before(answers=5, time=25s)"},
      {"6*0.2 [ 4*0/1 ] 8*0.4", kUndecided},
      // Twenty clients are enough for a clear case.
      {"down 3*100", kRecovered, nullptr, 0.02},
      {"down 3*0/400", kCollapsed, nullptr, 0.02},
      // The relapse of a hundred clients: one window without an OK, or half of it for fifteen seconds.
      {"down 3*100 1*0/400", kRelapsed, nullptr, 0.1},
      {"down 3*100 3*50/400", kRelapsed, nullptr, 0.1},
      {"down 3*100 1*50/400", kRecovered, nullptr, 0.1},  // 3.6 sigmas are not enough
      // Twenty clients: fifteen seconds without an OK.
      {"down 3*100 3*0/400", kRelapsed, nullptr, 0.02},
      // Watched for an hour, with a low phase, after which it is well again.
      {"down 300*100 3*0/400 400*100", kRelapsed, nullptr, 0.1},
      // As little as in a calm in which most attempts fail is no recovery.
      {"6*49/51 [ 4*0/100 ] 4*49/51", kUndecided, "not-well-before(share=0.49)"},
      {"6*50/50 [ 4*0/100 ] 4*50/50", kRecovered,
       "back-at-once(baseline=50, after=0s); unwell-before(share=0.5)"},
      {"6*95/5 [ 4*0/100 ] 4*95/5", kRecovered, "back-at-once(baseline=95, after=0s)"},
      {"6*60/40 [ 4*0/100 ] queue:1175,940,705,470*0/188", kRecovering,
       "queue-drains(ok=0, baseline=60, waiting=470, rate=47, left=10s); "
       "unwell-before(share=0.6)"},
      // Another outage starts the verdict again.
      {"down 5*0/476", kCollapsed},
      {"down 5*0/476 [", kUndecided},
      {"down 5*0/476 [ 1*0 ] 3*100", kRecovered},
  });
}

// With these lengths of the queue at the ends of windows with this many attempts/s.
std::string with_queue(const std::vector<std::size_t>& waiting, int attempts = 188) {
  std::string list;
  for (const std::size_t each : waiting) list += (list.empty() ? "" : ",") + std::to_string(each);
  return "down queue:" + list + "*0/" + std::to_string(attempts);
}

TEST(Recovery, AQueueThatEmptiesIsNotACollapse) {
  using enum Verdict;
  // A service that does 200/s, of 187 attempts/s (170 requests, and a budget of a tenth of that). After a
  // minute 2,960 wait, which take 2,960 / 13 = 228 s.
  // 3.5/s, of 200 attempts/s: in 55 s 192.5, and the noise of independent clients is 2.5 sqrt(2 * 11,000) = 371.
  std::vector<std::size_t> slowly, steadily;
  for (std::size_t i = 0; i < 12; ++i) {
    slowly.push_back(3675 - i * 65);
    steadily.push_back(1000 - 35 * i / 2);
  }
  std::vector<std::size_t> unsteadily = steadily;  // not ten in a row
  std::swap(unsteadily[5], unsteadily[6]);
  expect_verdicts({
      // 188 attempts/s, none of which is in time. Each second, 47 more are served than arrive.
      {with_queue({1175, 940, 705, 470}), kRecovering,
       "queue-drains(ok=0, baseline=100, waiting=470, rate=47, left=10s)"},
      // The queue must get shorter over three windows,
      {with_queue({1000, 1175, 940, 705, 470}), kRecovering},
      {with_queue({1175, 705, 940, 470}), kRecovering},
      {with_queue({940, 705, 470}), kCollapsed},
      // and by more than random noise: 2.5 sqrt(2 * 2820) = 187.7.
      {with_queue({500, 400, 350, 312}), kRecovering},
      {with_queue({500, 400, 350, 313}), kCollapsed,
       "held-by-retries(attempts=188, retries=188); "
       "queue-at-end(waiting=313)"},
      {with_queue(slowly, 187), kRecovering,
       "queue-drains(ok=0, baseline=100, waiting=2960, rate=13, left=3m47.692307692s)"},
      {with_queue(steadily, 200), kRecovering},
      {with_queue(unsteadily, 200), kCollapsed},
      // A budget that saves for two minutes pays for a wave of retries every two minutes. Here it filled once, there
      // twice. Smaller waves, such as those of a backoff, are none.
      {with_queue({7700, 5400, 3100, 9400, 7900, 6400, 4900}), kRecovering},
      {with_queue({7700, 5400, 3100, 9400, 7400, 4900, 11000, 9000, 7000, 5000}), kCollapsed},
      {with_queue({7700, 6700, 7900, 6900, 8000, 6000, 4000, 2000}), kRecovering},
      // One that grows again, or is empty already.
      {with_queue({4000, 3000, 2000, 1000, 1500, 2000}), kCollapsed},
      {with_queue({4000, 3000, 2000, 1000, 0}), kCollapsed},
  });
  // 20 s that have passed, 10 s more and four windows are 50 s. 60 s + 228 s + 20 s.
  EXPECT_EQ(History(with_queue({1175, 940, 705, 470})).result().to_watch, 1min);
  EXPECT_EQ(History(with_queue(slowly, 187)).result().to_watch, 6min);
}

// 100/s of 150/s become 200/s, or 160/s, of which that is 94 %.
TEST(Recovery, KnowsWhatTheServiceCanDo) {
  using enum Verdict;
  const std::string twice = "6*100 [ load:2 1*0/200/200 ] ", more = "[ load:1.6 1*0/160/160 ] ";
  expect_verdicts({
      {twice + "3*150/50/200", kRecovering, "below-baseline(ok=150, baseline=200, window=15s)"},
      {"can:150 " + twice + "3*150/50/200", kCollapsed,
       "load-above-capacity(load=200, capacity=150, attempts=200, retries=50); "
       "stays-low(ok=150, baseline=200)"},
      {"can:150 " + twice + "6*0/300/200", kCollapsed,
       "load-above-capacity(load=200, capacity=150, attempts=300, retries=300)"},
      {"can:200 " + twice + "6*0/300/200", kCollapsed,
       "kept-down-by-retries(attempts=300, retries=300)"},
      {"can:150 6*100 " + more + "4*150/10/160 4*0/300/160", kRelapsed,
       "back-at-once(baseline=160, after=0s); low-again(after=20s, ok=0, baseline=160); "
       "load-above-capacity(load=160, capacity=150)"},
      {"can:150 queue:10,10,10,10*100 " + more + "queue:3000,3100,3150*150/0/160", kRecovered,
       "back-at-once(baseline=160, after=0s); queue-left(wait=21s, before=100ms); "
       "load-above-capacity(load=160, capacity=150)"},
      {"can:150 6*100 6*0/300/200", kCollapsed,
       "down-by-itself(window=15s, ok=0, baseline=100, attempts=300, retries=300); "
       "load-above-capacity(load=200, capacity=150)"},
      // By less than noise: 15 s of 151/s are 2,265, and their root is 48.
      {"can:150 6*100 [ load:1.51 1*151 ] 6*0/300/151", kCollapsed,
       "kept-down-by-retries(attempts=300, retries=300)"},
  });
}

// 100 OK/s, of 5,000 that wait: by Little's law, each for 50 s. Before, ten did for 0.1 s.
TEST(Recovery, SaysThatTheQueueOfAServiceThatIsBackIsNotEmpty) {
  using enum Verdict;
  const std::string calm = "queue:10,10,10,10,10,10*100 [ 4*0/100 ] queue:";
  const char* const back = "back-at-once(baseline=100, after=0s)";
  expect_verdicts({
      {calm + "5200,5100,5000*100", kRecovered,
       "back-at-once(baseline=100, after=0s); queue-left(wait=50s, before=100ms)"},
      // One that was long for a while, or that is no longer than a second or ten times the calm's.
      {calm + "5000,5000,20*100", kRecovered, back},
      {calm + "5000,20,5000*100", kRecovered, back},
      {calm + "100,100,100*100", kRecovered, back},
      {calm + "99,5000,5000*100", kRecovered, back},
  });
  EXPECT_EQ(History(calm + "5200,5100,5000*100").result().queue_wait, 50s);
  EXPECT_EQ(History(calm + "99,5000,5000*100").result().queue_wait, std::nullopt);
}

// A queue of 1,000 + 3,000 exp(-t / tau) is held at 1,000. In the second half of a time T it falls as
// fast as 2 / (1 + exp(T / 2 tau)) times the mean, so half as fast after T = 2 ln(3) tau = 2.2 tau.
TEST(Recovery, AQueueThatLevelsOffIsACollapse) {
  const auto watched_for = [](double taus, int windows) {
    std::vector<std::size_t> waiting;
    for (int i = 0; i <= windows; ++i) {
      waiting.push_back(static_cast<std::size_t>(1000 + 3000 * std::exp(-i * taus / windows)));
    }
    return History(with_queue(waiting)).verdict();
  };
  for (const int windows : {6, 12, 60}) {
    EXPECT_EQ(watched_for(2, windows), Verdict::kRecovering) << windows;
    EXPECT_EQ(watched_for(2.4, windows), Verdict::kCollapsed) << windows;
    EXPECT_EQ(watched_for(20, windows), Verdict::kCollapsed) << windows;
  }
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
    recovering += History(with_queue(waiting, 187)).verdict() == Verdict::kRecovering ? 1 : 0;
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

// OK that are missing from the baseline, until the recovery.
TEST(Recovery, CountsTheAnswersMissingFromTheBaseline) {
  const std::pair<const char*, double> rows[] = {
      // 20 s of outage without any answer, 10 s at half the rate: 2000 + 500. Not what is missing later.
      {"down 2*50 3*100", 2500},
      {"down 2*50 3*100 2*80", 2500},
      // Also the last part of the outage, and to the end if there is no recovery.
      {"3*100 [ 1*0/100 part:2s*0/100 ] 3*100", 700},
      {"down 4*0/400", 4000},
      {"3*100 [ 1*150 ] 3*100", 0},
      // Of the baseline of the load in force when the outage begins.
      {"4*100 load:0.3 2*30 [ 4*0/30 ] 3*30", 20 * 30},
      // The load is set after five windows: 20 s of the outage and 15 s are missed until then.
      {"down 3*0/100 load:0.2 4*20", 3500},
      {"down 3*0/100 load:0.5 4*50", 3500},
      {"down 3*0/100 load:2 4*200", 3500},
      {"down 5*0/476 [ 1*0 ] 3*100", 500},
  };
  for (const auto& [run, lost] : rows)
    EXPECT_NEAR(History(run).result().ok_lost, lost, 1e-6) << run;
}

TEST(Recovery, PeakIsTheBusiestWindowOfTheRun) {
  EXPECT_EQ(History("1*300 3*100 [ 2*0/476 ]").result().peak_attempts, 476);
  EXPECT_EQ(History("1*300 3*100 [ 2*0/476 ] 1*20/580 3*100").result().peak_attempts, 600);
  // After the last window of the outage, often a fraction of a millisecond remains.
  EXPECT_EQ(History("6*100 [ 4*0/200 part:1ms*0/3000 ] 3*100").result().peak_attempts, 200);
}

TEST(Recovery, WindowsAreAlignedToTheStartAndToBothEndsOfTheOutage) {
  History history;
  EXPECT_EQ(history.tracker().window_end(), history.now() + 5s);
  history.play("3*100 part:3s*100 [");
  EXPECT_TRUE(history.tracker().in_outage());
  EXPECT_EQ(history.tracker().window_end(), history.now() + 5s);
  history.play("part:2s*0 ]");
  EXPECT_FALSE(history.tracker().in_outage());
  EXPECT_EQ(history.tracker().window_end(), history.now() + 5s);
  history.play("1*100");
  EXPECT_EQ(history.tracker().window_end(), history.now() + 5s);
}

TEST(Recovery, LateEngineDoesNotShiftTheWindowsAfterIt) {
  History history;
  const TimePoint start = history.now();
  history.play("late:5300ms*100");
  EXPECT_EQ(history.tracker().window_end(), start + 10s);
  history.play("late:4700ms*100");
  EXPECT_EQ(history.tracker().window_end(), start + 15s);
  EXPECT_EQ(history.result().baseline_ok, 100);
}

TEST(Recovery, LateEngineJoinsTheMissedWindowsToOne) {
  History history("down");
  const TimePoint woken = history.now();
  history.play("late:12s*0/100");  // two windows and a bit
  EXPECT_EQ(history.tracker().window_end(), woken + 15s);
  history.play("late:3s*0/100");
  EXPECT_EQ(history.tracker().window_end(), woken + 20s);
  history.play("3*100");
  EXPECT_EQ(history.result().time_to_recovery, 15s);
  EXPECT_EQ(history.verdict(), Verdict::kRecovered);
}

// The run began at 1000 s of its clock; the outage is over after 50 s.
TEST(Recovery, IsJudgedBesideOtherDisturbances) {
  using enum Verdict;
  const std::string kept = "kept-down-by-retries(attempts=300, retries=300); ";
  const std::string back = "back-at-once(baseline=100, after=0s)";
  const std::string fault = "down 6*100 +errors:1 2*0/100";
  const std::string below = "below-baseline(ok=";
  // The queue falls by 20/s, and would be empty at 1:32.5. From 1:15 on there is less capacity: it grows.
  const std::string draining = "down queue:750,650,550,450,350*0/100 ";
  const std::string grows = " queue:500,700,900,1100*0/100";
  struct Case {
    std::string run;
    Verdict verdict;
    std::optional<std::string> causes{};
  };
  const std::vector<Case> cases{
      // It is not revoked by another disturbance: in force, too soon to tell, back from both. But nothing
      // disturbs it then.
      {fault, kRecovered, back + "; not-judged-since(what=errors:1, at=1:20)"},
      {fault + " -errors:1 2*0/300", kRecovered},
      {fault + " -errors:1 2*0/300 4*100", kRecovered, back},
      {fault + " -errors:1 2*0/300 4*100 3*20/300", kRelapsed},
      // It is named if the service does not come back from it.
      {fault + " -errors:1 3*0/300", kCollapsed, kept + "since(what=errors:1, at=1:20)"},
      {fault + " -errors:1 3*0/300 1*50/50", kRecovering,
       below + "16.6667, baseline=100, window=15s); since(what=errors:1, at=1:20)"},
      {"down 6*100 !restart 4*0/300 !set_x=1 2*50/100", kCollapsed,
       kept + "since(what=restart, at=1:20); not-judged-since(what=set x=1, at=1:40)"},
      // What ends within the first windows after the outage leaves nothing to judge, or what was there
      // before it.
      {"down 2*0/300 +slow:2 8*0/300", kUndecided, "disturbed-after(what=slow:2, at=1:00)"},
      {"down 3*0/300 !restart 2*90/10", kCollapsed,
       kept + "not-judged-since(what=restart, at=1:05)"},
      {"down 3*0/300 !restart 2*90/10 2*100", kRecovered},
      // Less capacity to the end.
      {draining, kRecovering},
      {draining + "!capacity_0.3>less" + grows, kUndecided,
       "not-back-before(what=capacity 0.3, at=1:15)"},
      {draining + "+slow:9" + grows, kUndecided, "not-back-before(what=slow:9, at=1:15)"},
      // With all of the capacity it is judged again, and by what held it down since.
      {draining + "!capacity_0.3>less" + grows + " !capacity_1>all queue:1100,1200,1300,1400*0/100",
       kCollapsed},
      {draining + "+slow:9" + grows + " -slow:9 4*100", kRecovered},
      // A setting that stays, or more load: it was on its way back. It may be back, or on its way still.
      {"down 4*30/70 !that>setting 5*20/80", kUndecided, "not-back-before(what=that, at=1:10)"},
      {"down 4*30/70 !that>load 5*20/80", kUndecided, "not-back-before(what=that, at=1:10)"},
      {"down 4*30/70 !that>setting 5*20/80 3*100", kRecovered},
      {"down 4*30/70 !that>load 5*20/80 3*100", kRecovered},
      {"down queue:900,800,700*0/100 !that>setting queue:600,500,400,300*0/100", kRecovering},
      {"down queue:900,800,700*0/100 !that>load queue:600,500,400,300*0/100", kRecovering},
      // A setting may be tried as a remedy. It is judged whether it helps, if the service was down.
      {"down 2*0/300 !set_x=1>setting 5*0/300", kCollapsed,
       kept + "lasts-to-end(what=set x=1, at=1:00)"},
      {"down 5*0/300 !set_x=1>setting 5*0/300", kCollapsed,
       kept + "lasts-to-end(what=set x=1, at=1:15)"},
      {"down 2*0/300 !set_x=1>setting 5*0/300 3*100", kRecovered},
      {"down 5*0/300 !set_x=1>setting 5*0/300 3*100", kRecovered},
      // What stays does not revoke it. The load is another matter, because the baseline follows it.
      {"down 6*100 !that>setting 6*50/50", kRecovered,
       back + "; not-judged-since(what=that, at=1:20)"},
      {"down 6*100 !that>less 6*50/50", kRecovered,
       back + "; not-judged-since(what=that, at=1:20)"},
      {"down 6*100 !load_2>load 6*0/300", kCollapsed, kept + "since(what=load 2, at=1:20)"},
      // Less capacity from the outage on.
      {"down 2*0/300 !capacity_0.3>less 8*0/300", kUndecided,
       "disturbed-after(what=capacity 0.3, at=1:00)"},
      {"6*100 [ 2*0/100 !capacity_0.3>less 2*0/100 ] 8*0/300", kUndecided,
       "disturbed-after(what=capacity 0.3, at=0:40)"},
      // What was in force before the outage is in the baseline.
      {"+errors:0.1 down 6*0/300", kCollapsed},
      // 100 OK/s, then 30 from 20 s on. The window from 20 s to 25 s has the change, so that the baseline is
      // that of the next. What changes later is measured against it: 30 OK/s of a load of 0.3 are 100 of 1.
      {"4*100 load:0.3 2*30 [ 4*0/30 ] 3*30", kRecovered},
      {"4*100 load:0.3 2*30 [ 4*0/30 ] 3*30 load:1 4*50/50", kRecovering,
       below + "50, baseline=100, window=15s); since(what=load 1, at=1:05)"},
      {"2*100 +errors:0.5 2*50/50 -errors:0.5 1*70 1*100 [ 4*0/100 ] 3*60/40", kRecovering},
      // Without a calm since the last change.
      {"5*100 load:0.3 1*30 [ 4*0/30 ] 6*30", kUndecided,
       "change-before-outage(what=load 0.3, at=0:25)"},
      {"2*100 +drop 3*0/100 -drop 1*100 [ 4*0/30 ] 6*30", kUndecided,
       "change-before-outage(what=the end of drop, at=0:25)"},
      {"5*100 part:1s*100 !restart part:2s*100 [ 4*0/30 ] 6*30", kUndecided,
       "change-before-outage(what=restart, at=0:26)"},
      // What is set when the run begins, or just as the outage begins, changes nothing in the calm.
      {"load:0.5 1*50 [ 4*0/50 ] 3*50", kRecovered},
      {"6*100 [ load:0.5 4*0/50 ] 3*50", kRecovered},
      {"down 3*0/100 load:0.2 4*20", kRecovered},
      {"down 3*0/100 load:0.5 4*50", kRecovered},
      {"down 3*0/100 load:2 4*200", kRecovered},
      {"down 3*0/100 load:0.5 4*20/20", kRecovering, below + "20, baseline=50, window=15s)"},
      // 100 clients that get 50 OK/s, and think for 1 s each: half of a cycle of 2 s. With three times the load
      // a cycle is 1 + 1/3 s, so that they want 75/s.
      {"6*50 [ 4*0/100 ] 3*0/100 load:3:0.01 4*40/10", kRecovering,
       below + "40, baseline=75, window=15s)"},
  };
  for (const auto& [run, verdict, causes] : cases) {
    const History history(run);
    EXPECT_EQ(history.verdict(), verdict) << run << ": " << history.reason();
    if (causes) {
      EXPECT_EQ(history.reason(), *causes) << run;
    }
  }
  EXPECT_EQ(History(draining + "!capacity_0.3>less" + grows).result().to_watch, std::nullopt);
  EXPECT_EQ(History("5*100 load:0.3 1*30 [ 4*0/30 ] 6*30").result().baseline_ok, std::nullopt);
  EXPECT_EQ(History(fault + " -errors:1 2*0/300 4*100").result().time_to_recovery, 0s);
}

}  // namespace
}  // namespace retrystorm
