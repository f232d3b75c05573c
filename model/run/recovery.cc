#include "model/run/recovery.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "model/base/portable_math.h"

namespace retrystorm {
namespace {

// "Beyond noise" when a share is said not to be reached.
constexpr double kSigmas = 3;
// The chance that a healthy service is called relapsed.
constexpr double kFalseRelapses = 1e-3;

// The start of the first `kConsecutiveWindows` windows in a row that satisfy `holds`, given the
// first of them.
template <typename Windows, typename Predicate>
std::optional<std::size_t> first_running(const Windows& windows, Predicate holds) {
  for (std::size_t i = 0; i + RecoveryTracker::kConsecutiveWindows <= windows.size(); ++i) {
    if (holds(i)) return i;
  }
  return std::nullopt;
}

// The OK of the calm before the outage, and how others compare with them: see the header.
class Baseline {
 public:
  Baseline(std::uint64_t ok, Duration length)
      : ok_(static_cast<double>(ok)), seconds_(to_seconds(length)) {}

  double rate() const { return seconds_ > 0 ? ok_ / seconds_ : 0; }

  // Do so many OK fall short of this share of the baseline, and of all of it by so many sigmas?
  bool is_missed(std::uint64_t ok, Duration length, double share, double sigmas) const {
    const double ratio = to_seconds(length) / seconds_;
    if (static_cast<double>(ok) >= share * ok_ * ratio) return false;
    const double there = static_cast<double>(ok) + 0.5;
    const double even = (there + ok_) / (1 + ratio);  // for the calm, if the rate was one
    if (there >= ratio * even) return false;
    const double half_square =
        there * natural_log(there / (ratio * even)) + ok_ * natural_log(ok_ / even);
    return 2 * half_square > sigmas * sigmas;
  }

  // Would three windows without an answer be missed?
  bool is_enough() const {
    constexpr auto kLength = RecoveryTracker::kWindow * RecoveryTracker::kConsecutiveWindows;
    return is_missed(0, kLength, 1, kSigmas);
  }

 private:
  double ok_, seconds_;
};

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

RecoveryTracker::Window RecoveryTracker::baseline() const {
  // The first window is left out where there are more: the clients are still starting in it.
  Window whole{};
  for (std::size_t i = before_.size() > 1 ? 1 : 0; i < before_.size(); ++i) {
    whole.counts += before_[i].counts;
    whole.length += before_[i].length;
  }
  return whole;
}

Recovery RecoveryTracker::recovery() const {
  Recovery result;
  const Window calm = baseline();
  if (!before_.empty()) result.baseline_ok = calm.rates().ok;
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
  const Baseline base(calm.counts.ok, calm.length);
  if (base.rate() <= 0) return result;

  const std::span<const Window> after(after_);
  const auto misses = [&](const Window& window, double share, double sigmas) {
    return base.is_missed(window.counts.ok, window.length, share, sigmas);
  };
  const auto three_miss = [&](std::size_t first, double share, double sigmas) {
    std::uint64_t ok = 0;
    Duration length{0};
    for (const Window& window : after.subspan(first, kConsecutiveWindows)) {
      ok += window.counts.ok;
      length += window.length;
    }
    return base.is_missed(ok, length, share, sigmas);
  };
  const auto reaches = [&](double share) {
    return [=](std::size_t first) {
      const auto windows = after.subspan(first, kConsecutiveWindows);
      return std::none_of(windows.begin(), windows.end(),
                          [&](const Window& each) { return misses(each, share, kSigmas); }) &&
             !three_miss(first, share, kSigmas);
    };
  };
  const auto errors_gone = [](const Window& window) {
    return static_cast<double>(window.counts.failures()) <=
           0.01 * static_cast<double>(window.counts.attempts());
  };
  const auto tried = [](const Window& window) { return window.counts.attempts() > 0; };
  const auto start = [&](std::optional<std::size_t> at) {
    return at ? std::optional(after[*at].start) : std::nullopt;
  };
  result.errors_gone = start(first_running(after, [&](std::size_t first) {
    const auto windows = after.subspan(first, kConsecutiveWindows);
    return std::all_of(windows.begin(), windows.end(), tried) &&
           std::all_of(windows.begin(), windows.end(), errors_gone);
  }));
  const bool enough = base.is_enough();
  const auto recovered_at =
      enough ? first_running(after, reaches(0.9)) : std::optional<std::size_t>();
  if (enough) {
    result.time_to_half = start(first_running(after, reaches(0.5)));
    result.time_to_recovery = start(recovered_at);
    result.time_to_full = start(first_running(after, reaches(0.95)));
  }

  const auto lose = [&](const Window& window) {
    result.ok_lost +=
        base.rate() * to_seconds(window.length) - static_cast<double>(window.counts.ok);
  };
  std::for_each(during_.begin(), during_.end(), lose);
  const auto lost = after.first(recovered_at.value_or(after.size()));
  std::for_each(lost.begin(), lost.end(), lose);
  result.ok_lost = std::max(result.ok_lost, 0.0);

  if (after.size() < kConsecutiveWindows || !enough) return result;
  if (recovered_at) {
    const std::size_t threes = after.size() - kConsecutiveWindows + 1 - *recovered_at;
    const auto comparisons = static_cast<double>(after.size() - *recovered_at + threes);
    const double sigmas = std::sqrt(2 * natural_log(comparisons / (2 * kFalseRelapses)));
    bool relapsed = false;
    for (std::size_t i = *recovered_at; i < after.size(); ++i) {
      relapsed |= misses(after[i], 0.75, sigmas) ||
                  (i + kConsecutiveWindows <= after.size() && three_miss(i, 0.75, sigmas));
    }
    result.verdict = relapsed ? Verdict::kRelapsed : Verdict::kRecovered;
    return result;
  }
  const auto last = after.last(kConsecutiveWindows);
  if (std::none_of(last.begin(), last.end(), tried)) return result;
  // What little there is of OK is no noise: a service that is down answers nothing.
  const auto answers = [&](const Window& window) { return window.rates().ok >= 0.1 * base.rate(); };
  result.verdict = std::all_of(last.begin(), last.end(), errors_gone) ||
                           std::any_of(last.begin(), last.end(), answers)
                       ? Verdict::kRecovering
                       : Verdict::kCollapsed;
  return result;
}

}  // namespace retrystorm
