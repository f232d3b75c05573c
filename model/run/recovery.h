// Did the service come back after the outage? The verdict of a run.
//
// A window is compared with the baseline as two counts. It *misses* a share of the baseline when
// two things hold: it has fewer OK than that share, and fewer than chance explains for a healthy
// service. A service that answers at the baseline's rate has n OK in a window. The calm before the
// outage had b OK, and the window is r times as long as the calm. Both are taken as Poisson counts
// of one rate. The best estimate for the calm is then m = (n + b) / (1 + r). The distance between
// the two counts is the signed root of the likelihood ratio. It is a normal variate to a tenth of a
// sigma, even where n is 0. Half a count is added to n, because n is a whole number:
//
//     z = -sqrt(2 (n ln(n / (r m)) + b ln(b / m)))     for n < r m
//
// This covers the noise of the window and of the baseline. It assumes that open arrivals are
// Poisson. Arrivals of a closed loop are less noisy, because a client sends no other request while
// it waits for an answer. The difference grows with the ratio of answer times to think times. So
// the rule errs towards "not missed". Other noise, such as answers in bursts, is not modelled.
//
// - A share is *reached* (time_to_...) at the first of three consecutive windows that do not miss
//   it, neither singly nor together, with z under -3. For a healthy service the time to recovery is
//   0 s in at least 99 of 100 runs.
// - A *relapse* is looked for in all windows after the recovery, singly and in threes. The more
//   windows there are, the more are low by chance. So z must be under -sqrt(2 ln(w / 0.002)) for w
//   such comparisons. This is Bonferroni's bound with P(Z > x) <= exp(-x^2 / 2) / 2. At most one in
//   1000 healthy services is then called relapsed, however long the run is.
// - The verdict is "undecided" where fewer than half of the attempts before the outage were OK: the service
//   was down already, and as little again is no recovery. It is "undecided", too, where even three windows without one OK would not miss the baseline.
//   That is so with fewer than 14 answers in 25 s of calm.
// - A queue that empties is not a collapse, however long it takes. It empties if two things hold. From its
//   peak on, over three windows or more, it has fallen by more than random noise: 2.5 times the root of
//   twice the attempts that arrived (both as Poisson counts), or in each of ten windows or more. And in the second half
//   of that time it fell at least half as fast as in all of it: a queue that levels off, or grows again, is
//   held. With 187 attempts/s and 60 s the noise hides what drains by less than 6.2/s; watched four times as
//   long, by less than half of that. One that has fallen by half as much, and beyond noise, twice before, and filled again each
//   time, is held by waves of retries, such as those of a budget that saves.
// - Some OK that do not become more are a collapse: in the second half of the time since the outage, and in six windows or
//   more, they are below 50 %, or each window is below 75 % and together they are by more than chance. And from its first
//   to its second half OK/s do not rise, nor do attempts/s fall, by more than random noise (2.5 times the root of both, as
//   Poisson counts).
// - A service that is back may still have a queue, where answers come late but in time. It has one if in each
//   of the last three windows ten times as many requests wait as in any before the outage, and more than it
//   answers in a second. By Little's law a request then waits for the queue divided by OK/s.
// - Other disturbances of the timeline are no evidence against the recovery. From a window with one on, until three
//   windows in a row reach 90 % again, nothing counts as a relapse. A service that does not come back from the last
//   one is down, or not yet back, since then. What fewer than three windows follow is not judged, and less capacity
//   is on until the end. A setting that stays may be why a service that was back is not: that is not judged either. And
//   one that was on its way back from the outage before what lasts to the end is "undecided",
//   and what was in force before the outage belongs to the baseline: it begins after the window with the last change
//   before the outage. If no window is left, there is none. After a later change of the load, a window is compared
//   with the baseline times the factor F; closed clients that think for a share s of their time offer
//   1 / (1 - s + s / F) times as much. Where the load changes without an action, as a file of rates says, F is the
//   factor on its mean in the calm.
// - If more requests come at the end than the service is known to be able to answer, by more than random noise (2.5 times
//   their root), it does not come back, and that is why.
// - Without an outage there is nothing to recover from. A run of fewer than three windows in which nothing is OK is
//   "undecided". But the service may be down at the end: in
//   each of the last three windows at most a tenth of the attempts are OK, and a tenth of the OK/s
//   of its best three windows. If those are too few to compare with, none of the last attempts must
//   be OK. That is a collapse, or, if its queue empties, recovering.
//
// The noise matters less with more clients. With 25 s of calm at 99 OK/s, a window misses 90 % when
// it is under 86 % of the baseline, and three together when they are under 90 %. At 9.9 OK/s the
// limits are 58 % and 71 %.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/duration.h"
#include "model/base/statement.h"
#include "model/run/counts.h"

namespace retrystorm {

enum class Verdict {
  kNoOutage,   // and well at the end
  kUndecided,  // fewer than three windows after the outage, no attempt in the last three, or no
               // baseline (or one of too few answers)
  kRecovered,  // reached 90 % of the baseline, and did not miss 75 % later
  kRelapsed,   // reached 90 % of the baseline, and missed 75 % later
  kRecovering,  // below 90 %, but the last three windows have no errors, or one has 10 % OK that are not what
                // it stays at, or the service's queue empties
  kCollapsed,  // none of these; or down without an outage
};

inline constexpr std::array kVerdicts{Verdict::kNoOutage,   Verdict::kUndecided,
                                      Verdict::kRecovered,  Verdict::kRelapsed,
                                      Verdict::kRecovering, Verdict::kCollapsed};

std::string_view to_string(Verdict verdict);

// One notion, with one interval, everywhere.
constexpr bool is_down(Verdict verdict) {
  return verdict == Verdict::kCollapsed || verdict == Verdict::kRelapsed;
}

// What an action leaves behind, besides the outage.
enum class Lasting {
  kNothing,  // what may help, or is over at once, such as a restart
  kLoad,     // more load than usual
  kSetting,  // another setting of the service: it may help, or keep it from coming back
  kLess,     // less capacity than configured, until `kAllOfIt`
  kAllOfIt,
};

// Times are starts of windows, counted from the end of the outage.
struct Recovery {
  Verdict verdict = Verdict::kNoOutage;
  Statements causes{};  // of the verdict, the main one first; empty without an outage
  // If the service's queue empties: how long after the outage the run must go on to see it back.
  std::optional<Duration> to_watch{};
  std::optional<double> baseline_ok{};  // OK/s before the outage, at the load of its begin
  // If the service is back, but its queue is not as short as before: how long a request waits in it at the
  // end of the run.
  std::optional<Duration> queue_wait{};
  // The first of three consecutive windows in which at most 1 % of the attempts fail. A window
  // without attempts does not qualify.
  std::optional<Duration> errors_gone{};
  // The first of three consecutive windows that do not miss 50, 90 and 95 % of the baseline. With too few
  // answers to know what is missed, the first three that have as many OK in all.
  std::optional<Duration> time_to_half{}, time_to_recovery{}, time_to_full{};
  double peak_attempts = 0;  // attempts/s in the busiest window of the run
  double ok_lost = 0;        // OK missing from the baseline, from the outage to the recovery
  // Did the service answer all through the outage as before, so that it may not have happened?
  bool unfelt = false;
  // Is it known that there was no outage, although one was begun? Then there is nothing to recover from.
  bool outage_failed = false;
};

// Collects a run in windows of five seconds. They are aligned to the start of the run, then to the
// beginning of the outage, then to its end. The engine may pass totals at any time. A window's
// rates are computed over the time that really passed. Not thread-safe.
class RecoveryTracker {
 public:
  static constexpr Duration kWindow = std::chrono::seconds(5);
  static constexpr std::size_t kConsecutiveWindows = 3;  // windows that make a state
  static constexpr Duration kLeastAfter = kConsecutiveWindows * kWindow;  // for a verdict
  // The least share of the attempts that are OK in a calm with which an end can be compared.
  static constexpr double kWell = 0.5;

  struct Window {
    Counts counts;
    Duration start;                        // aligned, from the beginning of its phase
    Duration length;                       // as measured
    std::optional<std::size_t> waiting{};  // requests in the service's queue at its end, if known
    // How long clients offer as much before the outage. The same as `length` if the load was not changed.
    Duration expected{0};
    std::optional<std::size_t> disturbed_by{};  // index of the disturbance, see `disturb`
    Rates rates() const { return retrystorm::rates(counts, length); }
  };

  explicit RecoveryTracker(TimePoint start)
      : start_(start), phase_start_(start), window_start_(start), load_since_(start) {}

  // When the current window ends and `close_window` is due.
  TimePoint window_end() const { return phase_start_ + (windows_closed_ + 1) * kWindow; }

  // `waiting`: the requests that wait for a worker of the service; nothing if that is not known.
  void close_window(TimePoint now, const Counts& totals,
                    std::optional<std::size_t> waiting = std::nullopt);

  // Ends the run. The current window counts if at least 95 % of it has passed, because a run is
  // seldom a whole number of windows to the millisecond.
  void finish(TimePoint now, const Counts& totals,
              std::optional<std::size_t> waiting = std::nullopt);

  // Another outage starts a new verdict. It uses the baseline of the first outage.
  void outage_begins(TimePoint now, const Counts& totals);
  void outage_ends(TimePoint now, const Counts& totals);

  // There are windows in which nothing arrives, so that they say nothing about the service: there is no verdict.
  void note_uneven_arrivals() { uneven_ = true; }

  // Less is asked for from now on, because there is no more to do: windows that end from now on say nothing.
  void note_end_of_demand() { demand_ends_ = true; }

  // Something else was changed on purpose, so that the end of the outage does not mend everything.
  void note_change() { changed_ = true; }

  // That happened now, and is named so. Empty: as before, as in a ramp.
  void disturb(TimePoint now, const std::string& what, Lasting leaves = Lasting::kNothing);
  // The same for what lasts.
  void disturbance_begins(TimePoint now, const std::string& what);
  void disturbance_ends(TimePoint now, const std::string& what);

  // The clients offer this many times their usual load. `thinking`: the share of them that think, for each OK/s at
  // the usual load; nothing if they do not wait for answers.
  void set_load(TimePoint now, double load, std::optional<double> thinking);

  // How many requests a second the service can answer from now on; infinite if that is not known, as at first.
  void set_capacity(double capacity) { capacity_ = capacity; }

  bool in_outage() const { return phase_ == Phase::kDuring; }

  // The windows before the outage joined into one, since the last change; empty if there are none. Clients are
  // still starting in the first window: it is left out if there are others.
  Window baseline() const;

  // The result of the windows closed so far. Looks at each of them again.
  Recovery recovery() const;

  // Its verdict alone. Before any outage that takes a look at the last windows only, if all is well.
  Verdict verdict() const;

 private:
  enum class Phase { kBefore, kDuring, kAfter };
  class Judge;

  double peak_attempts() const;
  // Those that make the baseline.
  std::span<const Window> calm_windows() const;
  void take_window(TimePoint now, const Counts& totals, std::optional<std::size_t> waiting,
                   std::vector<Window>& windows);
  void begin_phase(Phase phase, TimePoint now, const Counts& totals);
  // Adds the time since the load was set to what is expected.
  void pass(TimePoint now);
  double load_factor() const;
  // That more requests come at the end of these windows than the service can answer.
  std::optional<Statement> too_much(std::span<const Window> windows) const;
  // Something changes: a calm begins anew with the next window.
  void change(TimePoint now, const std::string& what);

  // Another disturbance than the outage.
  struct Disturbed {
    TimePoint at;
    std::string what;
    Lasting leaves = Lasting::kNothing;
  };
  // The values `what` and `at` of a disturbance.
  Statement with(Statement statement, const Disturbed& what) const;

  const TimePoint start_;
  Phase phase_ = Phase::kBefore;
  TimePoint phase_start_;
  int windows_closed_ = 0;  // in this phase
  TimePoint window_start_;
  Counts window_start_totals_;
  std::vector<Window> before_, during_, after_;
  std::size_t calm_from_ = 0;  // the first window before the outage without a change in it or later
  Disturbed last_before_{};    // the last change before the outage
  bool changed_ = false, uneven_ = false, demand_ends_ = false;
  std::vector<Disturbed> disturbances_;
  std::vector<std::size_t> in_force_;        // of them, begun since the outage began
  std::optional<std::size_t> less_;          // of these, the capacity
  std::optional<std::size_t> disturbed_by_;  // in this window
  double load_ = 1, load_at_outage_ = 1;
  double above_mean_ = 1;  // the load as the outage began, as a factor on its mean in the calm
  double capacity_ = std::numeric_limits<double>::infinity();
  std::optional<double> thinking_;
  TimePoint load_since_;
  Duration expected_{0};  // in this window, until then
};

}  // namespace retrystorm
