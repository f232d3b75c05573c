#include "model/run/recovery.h"

#include <algorithm>

namespace retrystorm {
namespace {

// The start of the first `kRunning` windows in a row that satisfy `holds`.
template <typename Windows, typename Predicate>
std::optional<Duration> first_running(const Windows& windows, Predicate holds) {
  std::size_t run = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    run = holds(windows[i]) ? run + 1 : 0;
    if (run == RecoveryTracker::kRunning) {
      return windows[i + 1 - RecoveryTracker::kRunning].start;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNoOutage:
      return "no outage";
    case Verdict::kUndecided:
      return "undecided";
    case Verdict::kRecovered:
      return "recovered";
    case Verdict::kRelapsed:
      return "relapsed";
    case Verdict::kRecovering:
      return "recovering";
    case Verdict::kCollapsed:
      return "collapsed";
  }
  return "";
}

void RecoveryTracker::take_window(TimePoint now, const Counts& totals,
                                  std::vector<Window>& windows) {
  windows.push_back(
      {totals - window_start_totals_, windows_closed_ * kWindow, now - window_start_});
  window_start_ = now;
  window_start_totals_ = totals;
}

void RecoveryTracker::close_window(TimePoint now, const Counts& totals) {
  auto& windows = phase_ == Phase::kBefore ? before_ : phase_ == Phase::kDuring ? during_ : after_;
  take_window(now, totals, windows);
  // An engine that was itself held up may be several windows late: they become one.
  do ++windows_closed_;
  while (window_end() <= now);
}

void RecoveryTracker::finish(TimePoint now, const Counts& totals) {
  // A run that is shorter than a window is one.
  const bool first = phase_ == Phase::kBefore && before_.empty();
  if (first || window_end() - now <= kWindow / 20) close_window(now, totals);
}

void RecoveryTracker::begin_phase(Phase phase, TimePoint now, const Counts& totals) {
  phase_ = phase;
  phase_start_ = window_start_ = now;
  windows_closed_ = 0;
  window_start_totals_ = totals;
}

void RecoveryTracker::outage_begins(TimePoint now, const Counts& totals) {
  during_.clear();
  after_.clear();
  begin_phase(Phase::kDuring, now, totals);
}

void RecoveryTracker::outage_ends(TimePoint now, const Counts& totals) {
  take_window(now, totals, during_);  // the last one may be short: it counts in what was lost
  begin_phase(Phase::kAfter, now, totals);
}

std::optional<double> RecoveryTracker::baseline() const {
  if (before_.empty()) return std::nullopt;
  // The first window is left out where there are more: the clients are still starting in it.
  Counts counts;
  Duration length{0};
  for (std::size_t i = before_.size() > 1 ? 1 : 0; i < before_.size(); ++i) {
    counts += before_[i].counts;
    length += before_[i].length;
  }
  return rates(counts, length).ok;
}

Recovery RecoveryTracker::recovery() const {
  Recovery result;
  result.baseline_ok = baseline();
  const bool short_run = before_.size() + during_.size() + after_.size() == 1;
  const Duration least = short_run ? std::chrono::seconds(1) : kWindow;
  for (const auto* windows : {&before_, &during_, &after_}) {
    for (const Window& window : *windows) {
      // Over a whole window at least: two attempts in a last millisecond are no storm.
      const Duration length = std::max(window.length, least);
      result.peak_attempts = std::max(result.peak_attempts, rates(window.counts, length).attempts);
    }
  }
  if (phase_ == Phase::kBefore) return result;
  result.verdict = Verdict::kUndecided;
  const double base = result.baseline_ok.value_or(0);
  if (base <= 0) return result;

  const auto ok_at_least = [base](double share) {
    return [=](const Window& window) { return window.rates().ok >= share * base; };
  };
  const auto errors_gone = [](const Window& window) {
    return static_cast<double>(window.counts.failures()) <=
           0.01 * static_cast<double>(window.counts.attempts());
  };
  result.errors_gone = first_running(after_, errors_gone);
  result.time_to_half = first_running(after_, ok_at_least(0.5));
  result.time_to_recovery = first_running(after_, ok_at_least(0.9));
  result.time_to_full = first_running(after_, ok_at_least(0.95));

  const auto recovered_at = std::find_if(after_.begin(), after_.end(), [&](const Window& window) {
    return result.time_to_recovery && window.start == *result.time_to_recovery;
  });
  const auto lose = [&](const Window& window) {
    result.ok_lost += base * to_seconds(window.length) - static_cast<double>(window.counts.ok);
  };
  std::for_each(during_.begin(), during_.end(), lose);
  std::for_each(after_.begin(), recovered_at, lose);
  result.ok_lost = std::max(result.ok_lost, 0.0);

  if (after_.size() < kRunning) return result;
  const auto last = after_.end() - kRunning;
  if (result.time_to_recovery) {
    result.verdict = std::all_of(recovered_at, after_.end(), ok_at_least(0.75))
                         ? Verdict::kRecovered
                         : Verdict::kRelapsed;
  } else if (std::all_of(last, after_.end(), errors_gone) ||
             std::any_of(last, after_.end(), ok_at_least(0.1))) {
    result.verdict = Verdict::kRecovering;
  } else {
    result.verdict = Verdict::kCollapsed;
  }
  return result;
}

}  // namespace retrystorm
