#include "model/run/recovery.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "model/base/portable_math.h"
#include "model/base/text.h"
#include "model/run/outlook.h"

namespace retrystorm {
namespace {

// How many sigmas below a share count as beyond noise.
constexpr double kSigmas = 3;
// The same for the fall of a queue.
constexpr double kFallSigmas = 2.5;
// The probability that a healthy service is wrongly called relapsed.
constexpr double kFalseRelapses = 1e-3;

using Windows = std::span<const RecoveryTracker::Window>;

// The windows as one.
RecoveryTracker::Window joined(Windows windows) {
  RecoveryTracker::Window whole{};
  for (const auto& each : windows) {
    whole.counts += each.counts;
    whole.length += each.length;
    whole.expected += each.expected;
  }
  return whole;
}

// A queue that empties.
struct Draining {
  std::size_t waiting = 0;
  double rate = 0;  // requests/s
  Duration left() const { return from_seconds(static_cast<double>(waiting) / rate); }
};

// How often the queue got shorter by `enough`, and then longer by as much.
std::size_t waves(Windows windows, double enough) {
  std::size_t count = 0;
  bool falls = false;
  double extreme = 0;
  for (const auto& each : windows) {
    const auto waiting = static_cast<double>(each.waiting.value_or(0));
    extreme = falls ? std::min(extreme, waiting) : std::max(extreme, waiting);
    if (std::abs(waiting - extreme) < enough) continue;
    if (falls) ++count;
    falls = !falls;
    extreme = waiting;
  }
  return count;
}

// See the header.
std::optional<Draining> draining(Windows windows) {
  const auto shorter = [](const auto& a, const auto& b) { return a.waiting < b.waiting; };
  const auto peak = std::max_element(windows.rbegin(), windows.rend(), shorter);
  const Windows since = windows.last(static_cast<std::size_t>(peak - windows.rbegin()));
  if (since.size() < RecoveryTracker::kConsecutiveWindows) return std::nullopt;
  const Windows late = since.last((since.size() + 1) / 2);
  const auto& middle = since[since.size() - late.size() - 1];
  if (!middle.waiting || !since.back().waiting) return std::nullopt;
  const auto end = static_cast<double>(*since.back().waiting);
  const RecoveryTracker::Window whole = joined(since);
  const double fall = static_cast<double>(*peak->waiting) - end;
  const Draining queue{*since.back().waiting, fall / to_seconds(whole.length)};
  const double late_rate =
      (static_cast<double>(*middle.waiting) - end) / to_seconds(joined(late).length);
  const auto noise = [](Windows of) {
    return kFallSigmas * std::sqrt(2 * static_cast<double>(joined(of).counts.attempts));
  };
  const Windows until = windows.first(windows.size() - since.size() + 1);
  if (waves(until, std::max(fall / 2, noise(until))) >= 2) return std::nullopt;
  // A queue that goes up and down by chance falls ten times in a row once in a thousand. That of clients in lockstep
  // may fall by less than chance would explain if they were independent.
  constexpr std::size_t kSteady = 10;
  const bool steady =
      since.size() >= kSteady &&
      std::adjacent_find(since.begin(), since.end(), [](const auto& a, const auto& b) {
        return b.waiting >= a.waiting;
      }) == since.end();
  const bool falls = (steady || fall > noise(since)) && late_rate >= queue.rate / 2;
  return falls && queue.waiting > 0 ? std::optional(queue) : std::nullopt;
}

// How long a request waits in a queue that the outage has left, and did before it. See the header.
struct QueueLeft {
  Duration wait{0}, before{0};
};
std::optional<QueueLeft> queue_left(Windows before, Windows last) {
  double most = 0, sum = 0, least = Outlook::kUnlimited;
  for (const auto& each : before) {
    const auto waiting = static_cast<double>(each.waiting.value_or(0));
    most = std::max(most, waiting);
    sum += waiting;
  }
  for (const auto& each : last) {
    least = std::min(least, static_cast<double>(each.waiting.value_or(0)));
  }
  const double ok = joined(last).rates().ok, calm_ok = joined(before).rates().ok;
  if (least < 10 * most || least <= ok || ok <= 0 || calm_ok <= 0) return std::nullopt;
  return QueueLeft{from_seconds(static_cast<double>(*last.back().waiting) / ok),
                   from_seconds(sum / static_cast<double>(before.size()) / calm_ok)};
}

double number(std::uint64_t count) {
  return static_cast<double>(count);
}

// The load that the clients offer in a window, as a factor on that before the outage.
double load_in(const RecoveryTracker::Window& window) {
  return window.expected == window.length ? 1
                                          : to_seconds(window.expected) / to_seconds(window.length);
}

// Adds OK/s of these windows, and of the baseline at their load.
void add_ok(Statement& statement, const RecoveryTracker::Window& window, double baseline) {
  statement.values.push_back({"ok", window.rates().ok});
  statement.values.push_back({"baseline", baseline * load_in(window)});
}

// How long to watch until a queue is empty and three more windows have passed, in whole minutes.
Duration longer(Windows after, const Draining& queue) {
  return std::chrono::ceil<std::chrono::minutes>(
      after.back().start + after.back().length + queue.left() +
      RecoveryTracker::kWindow * (RecoveryTracker::kConsecutiveWindows + 1));
}

Statement why_draining(Windows after, double baseline, const Draining& queue) {
  Statement why{"queue-drains", {}};
  add_ok(why, joined(after.last(RecoveryTracker::kConsecutiveWindows)), baseline);
  why.values.push_back({"waiting", number(queue.waiting)});
  why.values.push_back({"rate", queue.rate});
  why.values.push_back({"left", queue.left()});
  return why;
}

Statement why_recovering(Windows after, double baseline, bool errors_gone) {
  const auto last = joined(after.last(RecoveryTracker::kConsecutiveWindows));
  Statement why{errors_gone ? "below-baseline-without-errors" : "below-baseline", {}};
  add_ok(why, last, baseline);
  why.values.push_back({"window", last.length});
  return why;
}

// Adds what keeps the service down.
void add_load(Statement& why, const RecoveryTracker::Window& window) {
  why.values.push_back({"attempts", window.rates().attempts});
  why.values.push_back({"retries", window.rates().retries});
}

// `mended`: what is true again after the outage; empty if something else was changed.
Statements why_collapsed(Windows after, std::string_view mended) {
  const auto last = joined(after.last(RecoveryTracker::kConsecutiveWindows));
  const auto without_answer = [&last](NoAnswer why) {
    return last.counts.errors_by[error_kind({.outcome = Outcome::kError, .no_answer = why})];
  };
  if (last.counts.attempts > 0 &&
      without_answer(NoAnswer::kRefused) + without_answer(NoAnswer::kUnreachable) ==
          last.counts.finished()) {
    return {{"service-gone", {{"attempts", last.rates().attempts}}}};
  }
  const bool retried = last.counts.retries > 0;
  Statements all{{mended.empty() ? (retried ? "kept-down-by-retries" : "kept-down")
                                 : (retried ? "held-by-retries" : "held-without-retries"),
                  {}}};
  add_load(all.front(), last);
  if (!mended.empty()) all.front().values.push_back({"mended", std::string(mended)});
  if (const auto waiting = after.back().waiting.value_or(0); waiting > 0) {
    all.push_back({"queue-at-end", {{"waiting", number(waiting)}}});
  }
  return all;
}

double ok_share(const RecoveryTracker::Window& calm) {
  const auto ended = static_cast<double>(calm.counts.finished());
  return ended > 0 ? static_cast<double>(calm.counts.ok) / ended : 1;
}

// Adds that the baseline was no calm, if so.
void add_unwell(Statements& all, const RecoveryTracker::Window& calm) {
  if (ok_share(calm) < 0.9) all.push_back({"unwell-before", {{"share", ShareOf{ok_share(calm)}}}});
}

// Finds the first of `kConsecutiveWindows` consecutive windows that satisfy `holds`. The predicate
// is given the index of the first window, and checks all of them.
template <typename Predicate>
std::optional<std::size_t> first_running(Windows windows, Predicate holds) {
  for (std::size_t i = 0; i + RecoveryTracker::kConsecutiveWindows <= windows.size(); ++i) {
    if (holds(i)) return i;
  }
  return std::nullopt;
}

// The OK answers before the outage, and how other windows compare with them. See the header.
class Baseline {
 public:
  Baseline(std::uint64_t ok, Duration length)
      : ok_(static_cast<double>(ok)), seconds_(to_seconds(length)) {}

  double rate() const { return seconds_ > 0 ? ok_ / seconds_ : 0; }

  // True if `ok` is below this share of the baseline, and is `sigmas` below the whole baseline.
  bool is_missed(std::uint64_t ok, Duration length, double share, double sigmas) const {
    const double ratio = to_seconds(length) / seconds_;
    if (static_cast<double>(ok) >= share * ok_ * ratio) return false;
    const double there = static_cast<double>(ok) + 0.5;
    const double even = (there + ok_) / (1 + ratio);  // expected if the rate is one
    if (there >= ratio * even) return false;
    const double half_square =
        there * natural_log(there / (ratio * even)) + ok_ * natural_log(ok_ / even);
    return 2 * half_square > sigmas * sigmas;
  }

  // True if three windows without an OK would miss the baseline.
  bool is_enough() const {
    constexpr auto kLength = RecoveryTracker::kWindow * RecoveryTracker::kConsecutiveWindows;
    return is_missed(0, kLength, 1, kSigmas);
  }

 private:
  double ok_, seconds_;
};

struct Judged {
  Verdict verdict = Verdict::kNoOutage;
  Statements causes{};
  std::optional<Duration> to_watch{};  // to see its queue empty
};

// A run without an outage.
Judged judge_calm(Windows all) {
  constexpr std::size_t kThree = RecoveryTracker::kConsecutiveWindows;
  if (all.size() < kThree) {
    const auto whole = joined(all);
    if (whole.counts.ok > 0 || whole.counts.failures() == 0) return {};
    return {Verdict::kUndecided, {{"none-ok-yet", {{"attempts", number(whole.counts.attempts)}}}}};
  }
  const Windows last = all.last(kThree);
  for (const auto& each : last) {
    if (each.counts.attempts == 0 || 10 * each.counts.ok > each.counts.attempts) return {};
  }
  RecoveryTracker::Window best{};
  for (std::size_t i = 0; i + kThree <= all.size(); ++i) {
    const auto three = joined(all.subspan(i, kThree));
    if (three.rates().ok >= best.rates().ok) best = three;
  }
  const auto end = joined(last);
  const Baseline base(best.counts.ok, best.length);
  if (base.is_enough()) {
    const bool answers = std::any_of(last.begin(), last.end(), [&base](const auto& each) {
      return each.rates().ok >= 0.1 * base.rate();
    });
    if (answers) return {};
    if (const auto queue = draining(all)) {
      return {Verdict::kRecovering, {why_draining(all, base.rate(), *queue)}, longer(all, *queue)};
    }
    Statement why{"down-by-itself", {{"window", end.length}}};
    add_ok(why, end, base.rate());
    add_load(why, end);
    return {Verdict::kCollapsed, {std::move(why)}};
  }
  if (draining(all) || end.counts.ok > 0 ||
      !Baseline(end.counts.attempts, end.length).is_enough()) {
    return {};
  }
  Statement why{"never-well", {{"count", number(end.counts.attempts)}, {"window", end.length}}};
  add_load(why, end);
  return {Verdict::kCollapsed, {std::move(why)}};
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
                                  std::optional<std::size_t> waiting,
                                  std::vector<Window>& windows) {
  pass(now);
  if (!disturbed_by_ && !in_force_.empty()) disturbed_by_ = in_force_.front();
  windows.push_back({totals - window_start_totals_, windows_closed_ * kWindow, now - window_start_,
                     waiting, std::exchange(expected_, Duration::zero()),
                     std::exchange(disturbed_by_, std::nullopt)});
  window_start_ = now;
  window_start_totals_ = totals;
}

void RecoveryTracker::close_window(TimePoint now, const Counts& totals,
                                   std::optional<std::size_t> waiting) {
  auto& windows = phase_ == Phase::kBefore ? before_ : phase_ == Phase::kDuring ? during_ : after_;
  take_window(now, totals, waiting, windows);
  // If the engine was held up for several windows, they become one window.
  do ++windows_closed_;
  while (window_end() <= now);
}

void RecoveryTracker::finish(TimePoint now, const Counts& totals,
                             std::optional<std::size_t> waiting) {
  // A run shorter than a window counts as one window.
  const bool first = phase_ == Phase::kBefore && before_.empty();
  if (first || window_end() - now <= kWindow / 20) close_window(now, totals, waiting);
}

void RecoveryTracker::begin_phase(Phase phase, TimePoint now, const Counts& totals) {
  phase_ = phase;
  phase_start_ = window_start_ = now;
  windows_closed_ = 0;
  window_start_totals_ = totals;
  load_since_ = now;
  expected_ = Duration::zero();
  disturbed_by_.reset();
}

void RecoveryTracker::pass(TimePoint now) {
  expected_ += scale(now - load_since_, load_factor());
  load_since_ = now;
}

double RecoveryTracker::load_factor() const {
  const double factor = load_ / load_at_outage_;
  if (phase_ == Phase::kBefore || factor == 1) return 1;
  if (!thinking_) return factor;
  const double share = std::min(*thinking_ / load_at_outage_ * baseline().rates().ok, 1.0);
  return 1 / (1 - share + share / factor);
}

void RecoveryTracker::change(TimePoint now, const std::string& what) {
  if (phase_ != Phase::kBefore || now == start_) return;
  calm_from_ = before_.size() + 1;
  last_before_ = {now, what};
}

void RecoveryTracker::disturb(TimePoint now, const std::string& what, Lasting leaves) {
  changed_ = true;
  if (!what.empty()) disturbances_.push_back({now, what, leaves});
  change(now, disturbances_.empty() ? what : disturbances_.back().what);
  if (!disturbed_by_ && !disturbances_.empty()) disturbed_by_ = disturbances_.size() - 1;
  if (leaves == Lasting::kLess && !less_) {
    less_ = disturbances_.size() - 1;
    in_force_.push_back(*less_);
  } else if (leaves == Lasting::kAllOfIt && less_) {
    in_force_.erase(std::find(in_force_.begin(), in_force_.end(), *less_));
    less_.reset();
  }
}

void RecoveryTracker::disturbance_begins(TimePoint now, const std::string& what) {
  disturb(now, what);
  in_force_.push_back(disturbances_.size() - 1);
}

void RecoveryTracker::disturbance_ends(TimePoint now, const std::string& what) {
  changed_ = true;
  change(now, "the end of " + what);
  const auto it = std::find_if(in_force_.begin(), in_force_.end(),
                               [&](std::size_t each) { return disturbances_[each].what == what; });
  if (it == in_force_.end()) return;
  if (!disturbed_by_ && now > window_start_) disturbed_by_ = *it;
  in_force_.erase(it);
}

void RecoveryTracker::set_load(TimePoint now, double load, std::optional<double> thinking) {
  pass(now);
  load_ = load;
  thinking_ = thinking;
}

Statement RecoveryTracker::with(Statement statement, const Disturbed& what) const {
  using Tenths = std::chrono::duration<std::int64_t, std::deci>;
  statement.values.push_back({"what", what.what});
  statement.values.push_back({"at", clock_text(std::chrono::round<Tenths>(what.at - start_))});
  return statement;
}

void RecoveryTracker::outage_begins(TimePoint now, const Counts& totals, std::string_view mended) {
  if (phase_ == Phase::kBefore) load_at_outage_ = load_;
  in_force_.clear();
  less_.reset();
  mended_ = mended;
  during_.clear();
  after_.clear();
  begin_phase(Phase::kDuring, now, totals);
}

void RecoveryTracker::outage_ends(TimePoint now, const Counts& totals) {
  take_window(now, totals, std::nullopt, during_);  // may be short, but counts in `ok_lost`
  begin_phase(Phase::kAfter, now, totals);
}

Windows RecoveryTracker::calm_windows() const {
  const std::size_t started = before_.size() > 1 ? 1 : 0;
  return Windows(before_).subspan(std::min(std::max(started, calm_from_), before_.size()));
}

RecoveryTracker::Window RecoveryTracker::baseline() const {
  return joined(calm_windows());
}

Verdict RecoveryTracker::verdict() const {
  if (phase_ != Phase::kBefore) return recovery().verdict;
  return judge_calm(before_).verdict;
}

Recovery RecoveryTracker::recovery() const {
  Recovery result;
  const Window calm = baseline();
  const bool has_calm = !calm_windows().empty();
  if (has_calm) result.baseline_ok = calm.rates().ok;
  const bool short_run = before_.size() + during_.size() + after_.size() == 1;
  const Duration least = short_run ? std::chrono::seconds(1) : kWindow;
  for (const auto* windows : {&before_, &during_, &after_}) {
    for (const Window& window : *windows) {
      // Use at least a whole window: two attempts in the last millisecond are not a peak.
      const Duration length = std::max(window.length, least);
      result.peak_attempts = std::max(result.peak_attempts, rates(window.counts, length).attempts);
    }
  }
  if (phase_ == Phase::kBefore) {
    const Judged judged = judge_calm(before_);
    result.verdict = judged.verdict;
    result.causes = judged.causes;
    result.to_watch = judged.to_watch;
    return result;
  }
  result.verdict = Verdict::kUndecided;
  Windows after(after_);
  const auto errors_gone = [](const Window& window) {
    return static_cast<double>(window.counts.failures()) <=
           0.01 * static_cast<double>(window.counts.attempts);
  };
  const auto tried = [](const Window& window) { return window.counts.attempts > 0; };
  const auto start = [&](std::optional<std::size_t> at) {
    return at ? std::optional(after[*at].start) : std::nullopt;
  };
  result.errors_gone = start(first_running(after, [&](std::size_t first) {
    const auto windows = after.subspan(first, kConsecutiveWindows);
    return std::all_of(windows.begin(), windows.end(), tried) &&
           std::all_of(windows.begin(), windows.end(), errors_gone);
  }));
  const Baseline base(calm.counts.ok, calm.length);
  if (base.rate() <= 0) {
    result.causes = {before_.empty() ? Statement{"outage-too-early", {}}
                     : !has_calm     ? with({"change-before-outage", {}}, last_before_)
                     : calm.counts.attempts == 0
                         ? Statement{"no-attempt-before", {}}
                         : Statement{"down-before", {{"attempts", number(calm.counts.attempts)}}}};
    return result;
  }

  const auto misses = [&](const Window& window, double share, double sigmas) {
    return base.is_missed(window.counts.ok, window.expected, share, sigmas);
  };
  const auto three_miss = [&](std::size_t first, double share, double sigmas) {
    std::uint64_t ok = 0;
    Duration length{0};
    for (const Window& window : after.subspan(first, kConsecutiveWindows)) {
      ok += window.counts.ok;
      length += window.expected;
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
  const Window outage = joined(during_);
  // As many as fail in the calm, and no more than chance adds. None if none fails there.
  const double fail_anyway = static_cast<double>(calm.counts.failures()) *
                             static_cast<double>(outage.counts.attempts) /
                             static_cast<double>(calm.counts.attempts);
  const bool none_more = static_cast<double>(outage.counts.failures()) <=
                         fail_anyway + kSigmas * std::sqrt(fail_anyway);
  result.unfelt = none_more && base.is_missed(0, outage.expected, 0.9, kSigmas) &&
                  !base.is_missed(outage.counts.ok, outage.expected, 0.9, kSigmas);
  const bool enough = base.is_enough();
  const auto recovered_at =
      enough ? first_running(after, reaches(0.9)) : std::optional<std::size_t>();
  const auto time_to = [&](double share) {
    return start(enough ? first_running(after, reaches(share))
                        : first_running(after, [&](std::size_t first) {
                            return !three_miss(first, share, 0);
                          }));
  };
  result.time_to_half = time_to(0.5);
  result.time_to_recovery = time_to(0.9);
  result.time_to_full = time_to(0.95);

  const auto lose = [&](const Window& window) {
    result.ok_lost +=
        base.rate() * to_seconds(window.expected) - static_cast<double>(window.counts.ok);
  };
  std::for_each(during_.begin(), during_.end(), lose);
  const auto lost = after.first(recovered_at.value_or(after.size()));
  std::for_each(lost.begin(), lost.end(), lose);
  result.ok_lost = std::max(result.ok_lost, 0.0);

  if (!enough) {
    result.causes = {
        {"few-answers-before", {{"answers", number(calm.counts.ok)}, {"time", calm.length}}}};
    return result;
  }
  if (ok_share(calm) < kWell) {
    result.causes = {{"not-well-before", {{"share", ShareOf{ok_share(calm)}}}}};
    return result;
  }
  if (after.size() < kConsecutiveWindows) {
    result.causes = {{phase_ == Phase::kDuring ? "ended-in-outage" : "too-short-after", {}}};
    return result;
  }
  // The windows that are no evidence against the recovery, because of another disturbance; and the first one since when
  // the service is not back from one.
  std::vector<bool> excused;
  bool away = false;
  std::size_t left_at = 0;      // where it was away
  std::size_t undisturbed = 0;  // windows at the end
  std::size_t judged = 0;       // the end of the last three of them in a row
  for (std::size_t i = 0; i < after.size(); ++i) {
    const bool disturbed = after[i].disturbed_by.has_value();
    undisturbed = disturbed ? 0 : undisturbed + 1;
    if (undisturbed >= kConsecutiveWindows) judged = i + 1;
    if (i == recovered_at ||
        (away && !disturbed && i + kConsecutiveWindows <= after.size() && reaches(0.9)(i))) {
      away = false;
    } else if (disturbed && !away) {
      away = true;
      left_at = i;
    }
    excused.push_back(away);
  }
  const auto no_errors = [&](Windows last_ones) {
    return std::all_of(last_ones.begin(), last_ones.end(), errors_gone);
  };
  // A few OK are not noise here, because a service that is down answers nothing.
  const auto answers = [&](const Window& window) {
    return window.rates().ok >= 0.1 * base.rate() * load_in(window);
  };
  const auto is_coming = [&](Windows until) {
    const auto last_ones = until.last(kConsecutiveWindows);
    return draining(until) || no_errors(last_ones) ||
           std::any_of(last_ones.begin(), last_ones.end(), answers);
  };
  std::optional<std::size_t> since;  // what it is not back from, if that is not the outage
  Statements unjudged;
  std::optional<std::size_t>
      lasting;  // why it is not known whether the service would have come back
  if (away) {
    const auto judge_first = [&](std::size_t windows, std::size_t later) {
      after = after.first(windows);
      unjudged = {with({"not-judged-since", {}}, disturbances_[later])};
      if (!in_force_.empty() && is_coming(after)) lasting = later;
    };
    const std::size_t by = *after[left_at].disturbed_by;
    const Lasting leaves =
        by + 1 == disturbances_.size() ? disturbances_[by].leaves : Lasting::kNothing;
    if (recovered_at && (judged <= left_at || leaves == Lasting::kSetting)) {
      unjudged = {with({"not-judged-since", {}}, disturbances_[by])};
    } else if (judged > left_at) {
      const bool stays = leaves == Lasting::kSetting || leaves == Lasting::kLoad;
      if (recovered_at) {
        since = by;
      } else if (stays) {
        const bool came = left_at >= kConsecutiveWindows && is_coming(after.first(left_at));
        if (came && !draining(after)) lasting = by;
        unjudged = {with({"lasts-to-end", {}}, disturbances_[by])};
      }
      if (judged < after.size()) judge_first(judged, *after[judged].disturbed_by);
    } else if (left_at >= kConsecutiveWindows) {
      judge_first(left_at, by);
    } else {
      result.causes = {with({"disturbed-after", {}}, disturbances_[by])};
      return result;
    }
  }
  const auto last = after.last(kConsecutiveWindows);
  std::optional<std::size_t> relapse, relapse_of_three;
  if (recovered_at) {
    const std::size_t threes = after.size() - kConsecutiveWindows + 1 - *recovered_at;
    const auto comparisons = static_cast<double>(after.size() - *recovered_at + threes);
    const double sigmas = std::sqrt(2 * natural_log(comparisons / (2 * kFalseRelapses)));
    for (std::size_t i = after.size(); i-- > *recovered_at;) {
      if (excused[i]) continue;
      if (misses(after[i], 0.75, sigmas)) relapse = i;
      if (i + kConsecutiveWindows <= after.size() && !excused[i + 1] && !excused[i + 2] &&
          three_miss(i, 0.75, sigmas)) {
        relapse_of_three = i;
      }
    }
    if (!relapse) relapse = relapse_of_three;
  }
  if (recovered_at && (relapse || !since)) {
    result.verdict = relapse ? Verdict::kRelapsed : Verdict::kRecovered;
    result.causes = {{*recovered_at == 0 ? "back-at-once" : "back-after",
                      {{"baseline", base.rate()}, {"after", *start(recovered_at)}}}};
    if (relapse) {
      Statement again{"low-again", {{"after", *start(relapse)}}};
      add_ok(again, joined(last), base.rate());
      result.causes.push_back(std::move(again));
    } else if (!base.is_missed(outage.counts.ok, outage.expected, 0.9, 0)) {
      const double missing =
          base.rate() * to_seconds(outage.expected) - static_cast<double>(outage.counts.ok);
      result.causes.push_back({missing < 1 ? "cost-nothing" : "cost-little", {}});
    }
    const auto queue =
        relapse || !unjudged.empty() ? std::nullopt : queue_left(calm_windows(), last);
    if (queue) {
      result.queue_wait = queue->wait;
      result.causes.push_back({"queue-left", {{"wait", queue->wait}, {"before", queue->before}}});
    }
    add_unwell(result.causes, calm);
    result.causes.insert(result.causes.end(), unjudged.begin(), unjudged.end());
    return result;
  }
  if (std::none_of(last.begin(), last.end(), tried)) {
    result.causes = {{"no-attempt-at-end", {{"window", joined(last).length}}}};
    return result;
  }
  if (lasting) {
    result.causes = {with({"not-back-before", {}}, disturbances_[*lasting])};
    return result;
  }
  if (const auto queue = draining(after)) {
    result.verdict = Verdict::kRecovering;
    result.causes = {why_draining(after, base.rate(), *queue)};
    result.to_watch = longer(after, *queue);
    unjudged.clear();
  } else if (is_coming(after)) {
    result.verdict = Verdict::kRecovering;
    result.causes = {why_recovering(after, base.rate(), no_errors(last))};
  } else {
    result.verdict = Verdict::kCollapsed;
    result.causes = why_collapsed(after, changed_ ? "" : mended_);
  }
  if (since) result.causes.push_back(with({"since", {}}, disturbances_[*since]));
  add_unwell(result.causes, calm);
  result.causes.insert(result.causes.end(), unjudged.begin(), unjudged.end());
  return result;
}

}  // namespace retrystorm
