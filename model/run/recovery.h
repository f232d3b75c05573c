// Did the service come back after the outage? The verdict of a run.
//
// A window is compared with the baseline as two counts are: it *misses* a share of the baseline
// when its OK are fewer than that share AND fewer than a healthy service's chance fluctuations
// explain. A service that answers at the baseline's rate has n OK in a window that is r times as
// long as the calm before the outage, which had b. Both are taken for Poisson counts of one rate,
// which is then best told by m = (n + b) / (1 + r) for the calm; how far apart they are is the
// signed root of the likelihood ratio, a normal variate to a tenth of a sigma even where n is 0
// (with half a count added to n, as it is a whole number):
//
//     z = -sqrt(2 (n ln(n / (r m)) + b ln(b / m)))     for n under r m
//
// That holds the noise of the window and that of the baseline. To be explicit about what is
// assumed: open arrivals are Poisson. Those of a closed loop are less noisy (a client with an
// answer under way asks for no other), the more so the longer the answers are beside the think
// times; so the rule errs towards "not missed". Other noise (answers that come in bursts) it does
// not know.
//
// - A share is *reached* (time_to_...) where none of three windows running misses it, singly or
// taken
//   together, with z under -3. A healthy service's time to recovery is 0 s in 99 of 100 runs or
//   more.
// - A *relapse* is looked for in all windows after the recovery, singly and in threes: the more
// there
//   are, the more are low by chance. So z must be under -sqrt(2 ln(w / 0.002)) for w such
//   comparisons: Bonferroni's bound, with P(Z > x) <= exp(-x^2 / 2) / 2. Of healthy services at
//   most one in 1000 is then called relapsed, however long it is watched.
// - Where even three windows without one OK would not be missed (fewer than 14 answers in 25 s of
//   calm), nothing can be told: the verdict is "undecided".
//
// The more clients, the less of this is felt: with 25 s of calm at 99 OK/s a window misses 90 %
// when it is under 86 % of the baseline, three together when they are under 90 %; at 9.9 OK/s under
// 58 % and 71 %.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "model/base/duration.h"
#include "model/run/counts.h"

namespace retrystorm {

enum class Verdict {
  kNoOutage,
  kUndecided,   // fewer than three windows after the outage, no attempt in the last three, or no
                // baseline (or one of too few answers)
  kRecovered,   // reached 90 % of the baseline, and did not miss 75 % later
  kRelapsed,    // reached 90 % of the baseline, and missed 75 % later
  kRecovering,  // not yet at 90 %, but in the last three windows errors are gone or one has 10 % OK
  kCollapsed,   // neither
};

std::string_view to_string(Verdict verdict);

// Times count from the end of the outage and are starts of windows.
struct Recovery {
  Verdict verdict = Verdict::kNoOutage;
  std::optional<double> baseline_ok;  // OK/s before the outage
  // The first of three windows running with failures of at most 1 % of the attempts; a window
  // without one attempt shows nothing and is none of them.
  std::optional<Duration> errors_gone;
  // The first of three windows running that do not miss 50, 90 and 95 % of the baseline.
  std::optional<Duration> time_to_half;
  std::optional<Duration> time_to_recovery;
  std::optional<Duration> time_to_full;
  double peak_attempts = 0;  // attempts/s in the busiest window of the run
  double ok_lost = 0;        // answers missing from the baseline, from the outage to the recovery
};

// Collects a run in windows of five seconds: aligned to the start before the outage, to its
// beginning during it, to its end after it. Totals come from the engine at any moment it likes;
// a window's rates are computed over the time that really passed.
// Not for use from two threads at once.
class RecoveryTracker {
 public:
  static constexpr Duration kWindow = std::chrono::seconds(5);
  static constexpr std::size_t kConsecutiveWindows = 3;  // windows in a row that make a state

  explicit RecoveryTracker(TimePoint start) : phase_start_(start), window_start_(start) {}

  // When the window at hand is over and wants `close_window`.
  TimePoint window_end() const { return window_end_at(windows_closed_ + 1); }

  void close_window(TimePoint now, const Counts& totals);

  // The run ends. The window at hand counts if all but a twentieth of it has passed, for a run's
  // length is seldom a whole number of windows to the millisecond.
  void finish(TimePoint now, const Counts& totals);

  // A further outage starts the verdict anew, against the first one's baseline.
  void outage_begins(TimePoint now, const Counts& totals);
  void outage_ends(TimePoint now, const Counts& totals);

  bool in_outage() const { return phase_ == Phase::kDuring; }

  // As things stand after the windows closed so far.
  Recovery recovery() const;

 private:
  enum class Phase { kBefore, kDuring, kAfter };

  struct Window {
    Counts counts;
    Duration start;   // as aligned, since the beginning of its phase
    Duration length;  // as it was
    Rates rates() const { return retrystorm::rates(counts, length); }
  };

  TimePoint window_end_at(int windows) const { return phase_start_ + windows * kWindow; }
  void take_window(TimePoint now, const Counts& totals, std::vector<Window>& windows);
  void begin_phase(Phase phase, TimePoint now, const Counts& totals);
  Window baseline() const;  // the windows that make it, as one; empty when there is none

  Phase phase_ = Phase::kBefore;
  TimePoint phase_start_;
  int windows_closed_ = 0;  // of this phase
  TimePoint window_start_;
  Counts window_start_totals_;
  std::vector<Window> before_, during_, after_;
};

}  // namespace retrystorm
