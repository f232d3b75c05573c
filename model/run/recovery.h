// Did the service come back after the outage? The verdict of a run.
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
  kUndecided,   // fewer than three windows after the outage, or no baseline
  kRecovered,   // reached 90 % of the baseline, and no later window is under 75 %
  kRelapsed,    // reached 90 % of the baseline, and fell under 75 % again
  kRecovering,  // not yet at 90 %, but errors are gone or OK is at 10 % or more
  kCollapsed,   // neither
};

std::string_view to_string(Verdict verdict);

// Times count from the end of the outage and are starts of windows.
struct Recovery {
  Verdict verdict = Verdict::kNoOutage;
  std::optional<double> baseline_ok;  // OK/s before the outage
  // The first of three windows running with failures of at most 1 % of the attempts.
  std::optional<Duration> errors_gone;
  // The first of three windows running with OK at 50, 90 and 95 % of the baseline.
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
  static constexpr std::size_t kRunning = 3;  // windows in a row that make a state

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
  std::optional<double> baseline() const;

  Phase phase_ = Phase::kBefore;
  TimePoint phase_start_;
  int windows_closed_ = 0;  // of this phase
  TimePoint window_start_;
  Counts window_start_totals_;
  std::vector<Window> before_, during_, after_;
};

}  // namespace retrystorm
