#include "model/run/recovery.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "model/base/random.h"
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

// It is not back, but its queue empties.
Recovery recovering(Windows after, double baseline, const Draining& queue) {
  Recovery result{.verdict = Verdict::kRecovering, .causes = {{"queue-drains", {}}}};
  Statement& why = result.causes.front();
  add_ok(why, joined(after.last(RecoveryTracker::kConsecutiveWindows)), baseline);
  why.values.push_back({"waiting", number(queue.waiting)});
  why.values.push_back({"rate", queue.rate});
  why.values.push_back({"left", queue.left()});
  // Until it is empty and three more windows have passed, in whole minutes.
  result.to_watch = std::chrono::ceil<std::chrono::minutes>(
      after.back().start + after.back().length + queue.left() +
      RecoveryTracker::kWindow * (RecoveryTracker::kConsecutiveWindows + 1));
  return result;
}

// Adds what keeps the service down.
void add_load(Statement& why, const RecoveryTracker::Window& window) {
  why.values.push_back({"attempts", window.rates().attempts});
  why.values.push_back({"retries", window.rates().retries});
}

// `changed`: something else was, so that the end of the outage does not mend all. `too_much`: of `RecoveryTracker`.
Statements why_collapsed(Windows after, bool changed, const std::optional<Statement>& too_much) {
  const auto last = joined(after.last(RecoveryTracker::kConsecutiveWindows));
  const auto without_answer = [&last](NoAnswer why) {
    return last.counts.errors_by[error_kind({.outcome = Outcome::kError, .no_answer = why})];
  };
  if (last.counts.attempts > 0 &&
      without_answer(NoAnswer::kRefused) + without_answer(NoAnswer::kUnreachable) ==
          last.counts.finished()) {
    return {{"service-gone", {{"window", last.length}, {"attempts", last.rates().attempts}}}};
  }
  const bool retried = last.counts.retries > 0;
  Statements all{
      too_much.value_or(Statement{changed ? (retried ? "kept-down-by-retries" : "kept-down")
                                          : (retried ? "held-by-retries" : "held-without-retries"),
                                  {}})};
  add_load(all.front(), last);
  if (const auto waiting = after.back().waiting.value_or(0); waiting > 0) {
    all.push_back({"queue-at-end", {{"waiting", number(waiting)}}});
  }
  return all;
}

double ok_share(const RecoveryTracker::Window& calm) {
  const auto ended = static_cast<double>(calm.counts.finished());
  return ended > 0 ? static_cast<double>(calm.counts.ok) / ended : 1;
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

}  // namespace

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

namespace {

// A run without an outage.
Recovery judge_calm(Windows all) {
  constexpr std::size_t kThree = RecoveryTracker::kConsecutiveWindows;
  const auto whole = joined(all);
  const auto undecided = [](std::string_view why, const RecoveryTracker::Window& of) {
    return Recovery{.verdict = Verdict::kUndecided,
                    .causes = {{why, {{"attempts", number(of.counts.attempts)}}}}};
  };
  if (all.empty()) return {};
  if (whole.counts.finished() == 0) {
    return undecided(whole.counts.attempts == 0 ? "none-sent" : "none-ended", whole);
  }
  if (all.size() < kThree) {
    if (whole.counts.ok == 0) return undecided("none-ok-yet", whole);
    constexpr double kEnough = 10;  // with so many expected, none is no chance
    const bool died =
        all.back().counts.ok == 0 && whole.rates().ok * to_seconds(all.back().length) >= kEnough;
    return died ? undecided("none-ok-now", all.back()) : Recovery{};
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
    if (const auto queue = draining(all)) return recovering(all, base.rate(), *queue);
    Statement why{"down-by-itself", {{"window", end.length}}};
    add_ok(why, end, base.rate());
    add_load(why, end);
    return {.verdict = Verdict::kCollapsed, .causes = {std::move(why)}};
  }
  if (draining(all) || end.counts.ok > 0 ||
      !Baseline(end.counts.attempts, end.length).is_enough()) {
    return {};
  }
  Statement why{"never-well", {{"count", number(end.counts.attempts)}, {"window", end.length}}};
  add_load(why, end);
  return {.verdict = Verdict::kCollapsed, .causes = {std::move(why)}};
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  constexpr std::string_view kNames[] = {"no outage", "undecided",  "recovered",
                                         "relapsed",  "recovering", "collapsed"};
  return kNames[static_cast<std::size_t>(verdict)];
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
  if (!demand_ends_) take_window(now, totals, waiting, windows);
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
  const bool counts = phase_ != Phase::kDuring && load_since_ > start_ && now > load_since_;
  if (load_ == 0 && counts) uneven_ = true;
  expected_ += scale(now - load_since_, load_factor());
  load_since_ = now;
}

double RecoveryTracker::load_factor() const {
  const double factor = load_ / load_at_outage_;
  if (!thinking_) return phase_ == Phase::kBefore ? load_ : factor;
  if (phase_ == Phase::kBefore || factor == 1) return 1;
  const double share = std::min(*thinking_ / load_at_outage_ * baseline().rates().ok, 1.0);
  return 1 / (1 - share + share / factor);
}

std::optional<Statement> RecoveryTracker::too_much(Windows windows) const {
  const Window last = joined(windows.last(std::min(windows.size(), kConsecutiveWindows)));
  const double requests = number(last.counts.requests), seconds = to_seconds(last.length);
  if (requests - kFallSigmas * std::sqrt(requests) <= capacity_ * seconds) return std::nullopt;
  return Statement{"load-above-capacity", {{"load", requests / seconds}, {"capacity", capacity_}}};
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

void RecoveryTracker::outage_begins(TimePoint now, const Counts& totals) {
  if (phase_ == Phase::kBefore) {
    // The mean, where rates change all the time; that of one load is rounded.
    const double mean = load_in(baseline());
    const bool known = !thinking_ && !calm_windows().empty() && mean > 0;
    const bool varies = known && std::abs(mean - load_) > 1e-6 * load_;
    load_at_outage_ = varies ? mean : load_;
    above_mean_ = varies ? load_ / mean : 1;
    if (load_at_outage_ == 0) load_at_outage_ = 1;
  }
  in_force_.clear();
  less_.reset();
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

double RecoveryTracker::peak_attempts() const {
  const bool short_run = before_.size() + during_.size() + after_.size() == 1;
  const Duration least = short_run ? std::chrono::seconds(1) : kWindow;
  double peak = 0;
  for (const auto* windows : {&before_, &during_, &after_}) {
    for (const Window& window : *windows) {
      // Use at least a whole window: two attempts in the last millisecond are not a peak.
      const Duration length = std::max(window.length, least);
      peak = std::max(peak, rates(window.counts, length).attempts);
    }
  }
  return peak;
}

// A run with an outage, step by step.
class RecoveryTracker::Judge {
 public:
  explicit Judge(const RecoveryTracker& run)
      : run_(run),
        calm_(run.baseline()),
        outage_(joined(run.during_)),
        base_(calm_.counts.ok, calm_.length),
        after_(run.after_) {}

  Recovery judge() {
    result_.verdict = Verdict::kUndecided;
    measure_errors();
    if (run_.uneven_) {
      result_.causes = {{"uneven-arrivals", {}}};
      return result_;
    }
    if (lacks_baseline()) return result_;
    measure_recovery();
    if (lacks_evidence()) return result_;
    excuse_disturbed();
    if (away_ && !choose_end()) return result_;
    const auto relapse = find_relapse();
    if (recovered_at_ && (relapse || !since_)) {
      say_back(relapse);
    } else {
      say_not_back();
    }
    return result_;
  }

 private:
  static bool errors_gone(const Window& window) {
    return static_cast<double>(window.counts.failures()) <=
           0.01 * static_cast<double>(window.counts.attempts);
  }
  static bool tried(const Window& window) { return window.counts.attempts > 0; }
  static bool no_errors(Windows windows) {
    return std::all_of(windows.begin(), windows.end(), errors_gone);
  }

  std::optional<Duration> start(std::optional<std::size_t> at) const {
    return at ? std::optional(after_[*at].start) : std::nullopt;
  }
  bool misses(const Window& window, double share, double sigmas) const {
    return base_.is_missed(window.counts.ok, window.expected, share, sigmas);
  }
  bool three_miss(std::size_t first, double share, double sigmas) const {
    return misses(joined(after_.subspan(first, kConsecutiveWindows)), share, sigmas);
  }
  bool reaches(std::size_t first, double share) const {
    const auto windows = after_.subspan(first, kConsecutiveWindows);
    return std::none_of(windows.begin(), windows.end(),
                        [&](const Window& each) { return misses(each, share, kSigmas); }) &&
           !three_miss(first, share, kSigmas);
  }
  // A few OK are not noise here, because a service that is down answers nothing.
  bool answers(const Window& window) const {
    return window.rates().ok >= 0.1 * base_.rate() * load_in(window);
  }
  bool any_answers(Windows windows) const {
    return std::any_of(windows.begin(), windows.end(),
                       [this](const auto& each) { return answers(each); });
  }
  // Are OK/s low, and do neither they rise nor the attempts fall? See the header.
  bool stays_low(Windows until) const {
    constexpr std::size_t kLeast = 2 * kConsecutiveWindows;
    if (until.size() < kLeast) return false;
    const std::size_t half = std::max(kLeast, (until.size() + 1) / 2) / 2;
    const Window earlier = joined(until.last(2 * half).first(half)),
                 later = joined(until.last(half));
    const auto rises = [](std::uint64_t from, double longer, std::uint64_t to) {
      return number(to) - number(from) * longer >
             kFallSigmas * std::sqrt(number(to) + number(from) * longer * longer);
    };
    const double longer = to_seconds(later.expected) / to_seconds(earlier.expected);
    const Windows both = until.last(2 * half);
    const bool all_low = std::all_of(both.begin(), both.end(),
                                     [this](const Window& each) { return misses(each, 0.75, 0); });
    const auto low = [&](const Window& each) {
      return misses(each, 0.5, 0) || (all_low && misses(each, 0.75, kSigmas));
    };
    return low(earlier) && low(later) && !rises(earlier.counts.ok, longer, later.counts.ok) &&
           !rises(later.counts.attempts, 1 / longer, earlier.counts.attempts);
  }
  bool is_coming(Windows until) const {
    const auto last = until.last(kConsecutiveWindows);
    return draining(until) || no_errors(last) || (any_answers(last) && !stays_low(until));
  }
  Statement with(std::string_view id, std::size_t disturbance) const {
    return run_.with({id, {}}, run_.disturbances_[disturbance]);
  }

  void measure_errors() {
    result_.errors_gone = start(first_running(after_, [this](std::size_t first) {
      const auto windows = after_.subspan(first, kConsecutiveWindows);
      return std::all_of(windows.begin(), windows.end(), tried) && no_errors(windows);
    }));
  }

  bool lacks_baseline() {
    if (base_.rate() > 0) return false;
    result_.causes = {
        run_.before_.empty()          ? Statement{"outage-too-early", {}}
        : run_.calm_windows().empty() ? run_.with({"change-before-outage", {}}, run_.last_before_)
        : calm_.counts.attempts == 0
            ? Statement{"no-attempt-before", {}}
            : Statement{"down-before", {{"attempts", number(calm_.counts.attempts)}}}};
    return true;
  }

  void measure_recovery() {
    // As many as fail in the calm, and no more than chance adds. None if none fails there.
    const double fail_anyway = static_cast<double>(calm_.counts.failures()) *
                               static_cast<double>(outage_.counts.attempts) /
                               static_cast<double>(calm_.counts.attempts);
    const bool none_more = static_cast<double>(outage_.counts.failures()) <=
                           fail_anyway + kSigmas * std::sqrt(fail_anyway);
    result_.unfelt = none_more && base_.is_missed(0, outage_.expected, 0.9, kSigmas) &&
                     !base_.is_missed(outage_.counts.ok, outage_.expected, 0.9, kSigmas);
    const bool enough = base_.is_enough();
    const auto first_at = [&](double share) {
      return first_running(after_, [&](std::size_t first) {
        return enough ? reaches(first, share) : !three_miss(first, share, 0);
      });
    };
    if (enough) recovered_at_ = first_at(0.9);
    result_.time_to_half = start(first_at(0.5));
    result_.time_to_recovery = start(first_at(0.9));
    result_.time_to_full = start(first_at(0.95));

    const auto lose = [&](const Window& window) {
      result_.ok_lost +=
          base_.rate() * to_seconds(window.expected) - static_cast<double>(window.counts.ok);
    };
    std::for_each(run_.during_.begin(), run_.during_.end(), lose);
    const auto lost = after_.first(recovered_at_.value_or(after_.size()));
    std::for_each(lost.begin(), lost.end(), lose);
    result_.ok_lost = std::max(result_.ok_lost, 0.0);
  }

  bool lacks_evidence() {
    if (!base_.is_enough()) {
      result_.causes = {
          {"few-answers-before", {{"answers", number(calm_.counts.ok)}, {"time", calm_.length}}}};
    } else if (ok_share(calm_) < kWell) {
      result_.causes = {{"not-well-before", {{"share", ShareOf{ok_share(calm_)}}}}};
    } else if (after_.size() < kConsecutiveWindows) {
      result_.causes = {
          {run_.phase_ == Phase::kDuring ? "ended-in-outage" : "too-short-after", {}}};
    }
    return !result_.causes.empty();
  }

  // Which windows are no evidence against the recovery, because of another disturbance.
  void excuse_disturbed() {
    std::size_t undisturbed = 0;  // windows at the end
    for (std::size_t i = 0; i < after_.size(); ++i) {
      const bool disturbed = after_[i].disturbed_by.has_value();
      undisturbed = disturbed ? 0 : undisturbed + 1;
      if (undisturbed >= kConsecutiveWindows) judged_ = i + 1;
      if (i == recovered_at_ ||
          (away_ && !disturbed && i + kConsecutiveWindows <= after_.size() && reaches(i, 0.9))) {
        away_ = false;
      } else if (disturbed && !away_) {
        away_ = true;
        left_at_ = i;
      }
      excused_.push_back(away_);
    }
  }

  // Only the first windows are judged, because of a later disturbance.
  void judge_first(std::size_t windows, std::size_t later) {
    after_ = after_.first(windows);
    unjudged_ = {with("not-judged-since", later)};
    if (!run_.in_force_.empty() && is_coming(after_)) lasting_ = later;
  }

  // Where the service is not back from another disturbance: which windows are judged. False if too few are.
  bool choose_end() {
    const std::size_t by = *after_[left_at_].disturbed_by;
    const Lasting leaves =
        by + 1 == run_.disturbances_.size() ? run_.disturbances_[by].leaves : Lasting::kNothing;
    if (recovered_at_ && (judged_ <= left_at_ || leaves == Lasting::kSetting)) {
      unjudged_ = {with("not-judged-since", by)};
    } else if (judged_ > left_at_) {
      const bool stays = leaves == Lasting::kSetting || leaves == Lasting::kLoad;
      if (recovered_at_) {
        since_ = by;
      } else if (stays) {
        const bool came = left_at_ >= kConsecutiveWindows && is_coming(after_.first(left_at_));
        if (came && !draining(after_)) lasting_ = by;
        unjudged_ = {with("lasts-to-end", by)};
      }
      if (judged_ < after_.size()) judge_first(judged_, *after_[judged_].disturbed_by);
    } else if (left_at_ >= kConsecutiveWindows) {
      judge_first(left_at_, by);
    } else {
      result_.causes = {with("disturbed-after", by)};
      return false;
    }
    return true;
  }

  std::optional<std::size_t> find_relapse() const {
    if (!recovered_at_) return std::nullopt;
    std::optional<std::size_t> relapse, relapse_of_three;
    const std::size_t threes = after_.size() - kConsecutiveWindows + 1 - *recovered_at_;
    const auto comparisons = static_cast<double>(after_.size() - *recovered_at_ + threes);
    const double sigmas = std::sqrt(2 * natural_log(comparisons / (2 * kFalseRelapses)));
    for (std::size_t i = after_.size(); i-- > *recovered_at_;) {
      if (excused_[i]) continue;
      if (misses(after_[i], 0.75, sigmas)) relapse = i;
      if (i + kConsecutiveWindows <= after_.size() && !excused_[i + 1] && !excused_[i + 2] &&
          three_miss(i, 0.75, sigmas)) {
        relapse_of_three = i;
      }
    }
    return relapse ? relapse : relapse_of_three;
  }

  void say_back(std::optional<std::size_t> relapse) {
    const auto last = after_.last(kConsecutiveWindows);
    result_.verdict = relapse ? Verdict::kRelapsed : Verdict::kRecovered;
    const double load = load_in(after_[*recovered_at_]);
    result_.causes = {{*recovered_at_ == 0 ? "back-at-once" : "back-after",
                       {{"baseline", base_.rate() * load}, {"after", *start(recovered_at_)}}}};
    if (relapse) {
      Statement again{"low-again", {{"after", *start(relapse)}}};
      add_ok(again, joined(last), base_.rate());
      result_.causes.push_back(std::move(again));
    } else if (outage_.counts.attempts > 0 &&
               !base_.is_missed(outage_.counts.ok, outage_.expected, 0.9, 0) &&
               number(outage_.counts.gave_up()) <= 0.01 * number(outage_.counts.requests)) {
      const double missing =
          base_.rate() * to_seconds(outage_.expected) - static_cast<double>(outage_.counts.ok);
      result_.causes.push_back({missing < 1 ? "cost-nothing" : "cost-little", {}});
    }
    if (!relapse && unjudged_.empty()) {
      if (const auto queue = queue_left(run_.calm_windows(), last)) {
        result_.queue_wait = queue->wait;
        result_.causes.push_back(
            {"queue-left", {{"wait", queue->wait}, {"before", queue->before}}});
      }
    }
    add_what_else();
  }

  void say_not_back() {
    const auto last = after_.last(kConsecutiveWindows);
    if (std::none_of(last.begin(), last.end(), tried)) {
      result_.causes = {{"no-attempt-at-end", {{"window", joined(last).length}}}};
      return;
    }
    if (lasting_) {
      result_.causes = {with("not-back-before", *lasting_)};
      return;
    }
    if (const auto queue = draining(after_)) {
      const Recovery drains = recovering(after_, base_.rate(), *queue);
      result_.verdict = drains.verdict;
      result_.causes = drains.causes;
      result_.to_watch = drains.to_watch;
      unjudged_.clear();
    } else if (const auto load = run_.too_much(after_); is_coming(after_) && !load) {
      result_.verdict = Verdict::kRecovering;
      Statement why{no_errors(last) ? "below-baseline-without-errors" : "below-baseline", {}};
      add_ok(why, joined(last), base_.rate());
      why.values.push_back({"window", joined(last).length});
      result_.causes = {std::move(why)};
    } else {
      result_.verdict = Verdict::kCollapsed;
      result_.causes = why_collapsed(after_, run_.changed_, load);
      if (any_answers(last)) {
        result_.causes.push_back({"stays-low", {}});
        add_ok(result_.causes.back(), joined(last), base_.rate());
      }
    }
    if (since_) result_.causes.push_back(with("since", *since_));
    add_what_else();
  }

  void add_what_else() {
    if (const double share = ok_share(calm_); share < 0.9) {  // the baseline was no calm
      result_.causes.push_back({"unwell-before", {{"share", ShareOf{share}}}});
    }
    result_.causes.insert(result_.causes.end(), unjudged_.begin(), unjudged_.end());
  }

  const RecoveryTracker& run_;
  const Window calm_, outage_;
  const Baseline base_;
  Windows after_;  // as far as they are judged
  Recovery result_;
  std::optional<std::size_t> recovered_at_{};  // the window
  std::vector<bool> excused_{};                // of `after_`
  bool away_ = false;                          // at the end, because of another disturbance
  std::size_t left_at_ = 0;                    // where it was away
  std::size_t judged_ = 0;  // the end of the last three windows in a row without a disturbance
  Statements unjudged_{};
  // Disturbances: what it is not back from, if that is not the outage; and why it is not known whether it would
  // have come back.
  std::optional<std::size_t> since_{}, lasting_{};
};

Recovery RecoveryTracker::recovery() const {
  Recovery result = phase_ == Phase::kBefore ? judge_calm(before_) : Judge(*this).judge();
  if (!calm_windows().empty()) result.baseline_ok = baseline().rates().ok * above_mean_;
  result.peak_attempts = peak_attempts();
  const bool calm = phase_ == Phase::kBefore;
  if (calm ? is_down(result.verdict)
           : result.verdict == Verdict::kRelapsed || result.queue_wait.has_value()) {
    if (auto load = too_much(calm ? before_ : after_)) result.causes.push_back(std::move(*load));
  }
  return result;
}

}  // namespace retrystorm
