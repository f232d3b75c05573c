#include "model/service/autoscaler.h"

#include <algorithm>
#include <cmath>

#include "model/base/text.h"

namespace retrystorm {
namespace {

constexpr Duration kDay = std::chrono::hours(24);
// Once the day's free decreases are used up, another is allowed an hour after the last one.
constexpr Duration kBetweenDecreases = std::chrono::hours(1);

// Rounds up to whole units. The tolerance keeps a use exactly on target from needing one more.
double units(double capacity) {
  constexpr double kRounding = 1e-9;
  return std::ceil(capacity * (1 - kRounding));
}

}  // namespace

void declare_options(OptionList& options, AutoscaleSettings& settings) {
  constexpr double kMost = 1e9;
  options.group("Autoscaler: adapts the rate limit to its use");
  options.choice<AutoscaleKind>(
      "autoscale", settings.kind,
      {{"none", AutoscaleKind::kNone},
       {"target-tracking", AutoscaleKind::kTargetTracking},
       {"on-demand", AutoscaleKind::kOnDemand}},
      "how the rate limit changes: not at all, like DynamoDB's auto scaling, or like its "
      "on-demand mode (twice the highest use so far)");
  options.duration("autoscale-period", settings.period,
                   "how long the period is over which the use is averaged",
                   std::chrono::milliseconds(1));
  options.number("autoscale-target", settings.target,
                 "target tracking: the share of the rate limit that should be in use", 0.01, 1);
  options.duration("autoscale-out-after", settings.out_after,
                   "how long the use must be above the target before capacity is added");
  options.duration("autoscale-in-after", settings.in_after,
                   "how long the use must be low before capacity is removed");
  options.number("autoscale-in-margin", settings.in_margin,
                 "how far below the target the use must be to count as low", 0, 1);
  options.duration("autoscale-delay", settings.delay, "how long a change takes to come into force");
  options
      .count_or_none("autoscale-decreases", settings.decreases,
                     "how many decreases a day are allowed at any time; beyond that, one an hour "
                     "after the last (with 4: at most 27 a day)",
                     0, 1'000'000'000, "decreases")
      .with_range("0", "100");
  options.number("autoscale-least", settings.least, "the lowest rate limit", 1e-3, kMost,
                 "requests/s");
  options.number("autoscale-most", settings.most, "the highest rate limit", 1e-3, kMost,
                 "requests/s");
  options.duration("autoscale-doubling", settings.doubling,
                   "on demand: how long after a peak twice its use is admitted");
  options.needs(
      "autoscale-target autoscale-out-after autoscale-in-after autoscale-in-margin autoscale-delay "
      "autoscale-decreases",
      "autoscale=target-tracking");
  options.needs("autoscale-doubling", "autoscale=on-demand");
  options.needs_after("autoscale", "autoscale");
}

void check(const AutoscaleSettings& settings, double capacity) {
  if (settings.kind == AutoscaleKind::kNone) return;
  if (settings.most < settings.least) {
    refuse("autoscale-most is less than autoscale-least: " + print_number(settings.most) + " and " +
           print_number(settings.least));
  }
  if (capacity < settings.least || capacity > settings.most) {
    refuse("rate-limit " + print_number(capacity) +
           " is not between autoscale-least and autoscale-most: " + print_number(settings.least) +
           " and " + print_number(settings.most));
  }
}

Autoscaler::Autoscaler(const AutoscaleSettings& settings, double capacity, TimePoint start)
    : settings_(settings),
      capacity_(capacity),
      day_(start),
      period_start_(start),
      in_force_since_(start) {
  find_next_event();
}

void Autoscaler::find_next_event() {
  next_event_ = settings_.kind == AutoscaleKind::kNone
                    ? TimePoint::max()
                    : saturating_add(period_start_, settings_.period);
  if (!changes_.empty()) next_event_ = std::min(next_event_, changes_.front().at);
}

double Autoscaler::advance(std::uint64_t used) {
  const TimePoint now = next_event_;
  // Do this first: a period that ends with a change still belongs to the old capacity.
  if (settings_.kind != AutoscaleKind::kNone && now >= period_start_ + settings_.period) {
    look(now, static_cast<double>(used - used_) / to_seconds(now - period_start_));
    period_start_ = now;
    used_ = used;
  }
  if (!changes_.empty() && now >= changes_.front().at) {
    capacity_ = changes_.front().capacity;
    changes_.pop_front();
    in_force_since_ = now;
    above_ = low_ = Duration::zero();
  }
  find_next_event();
  return capacity_;
}

void Autoscaler::look(TimePoint now, double use) {
  if (settings_.kind == AutoscaleKind::kTargetTracking) return track(now, use);
  const double to_come = changes_.empty() ? capacity_ : changes_.back().capacity;
  const double doubled = std::min(2 * use, settings_.most);
  if (doubled > to_come) changes_.push_back({saturating_add(now, settings_.doubling), doubled});
}

void Autoscaler::track(TimePoint now, double use) {
  if (!changes_.empty() || period_start_ < in_force_since_) return;
  const auto count = [&](Duration& time, bool so) {
    time = so ? saturating_add(time, settings_.period) : Duration::zero();
  };
  count(above_, use > settings_.target * capacity_);
  count(low_, use < (settings_.target - settings_.in_margin) * capacity_);
  const bool out = above_ > Duration::zero() && above_ >= settings_.out_after;
  const bool in = low_ > Duration::zero() && low_ >= settings_.in_after;
  if (!out && !in) return;
  const double wanted = std::clamp(units(use / settings_.target), settings_.least, settings_.most);
  if (wanted == capacity_ || (wanted < capacity_ && !may_decrease(now))) return;
  changes_.push_back({saturating_add(now, settings_.delay), wanted});
}

bool Autoscaler::may_decrease(TimePoint now) {
  while (now - day_ >= kDay) {
    day_ += kDay;
    decreases_ = 0;
  }
  const bool late = last_decrease_ == TimePoint::min() || now - last_decrease_ >= kBetweenDecreases;
  if (decreases_ >= settings_.decreases && !late) return false;
  ++decreases_;
  last_decrease_ = now;
  return true;
}

void Autoscaler::configure(TimePoint now, const AutoscaleSettings& settings, double capacity,
                           std::uint64_t used) {
  if (settings == settings_ && capacity == capacity_) return;
  const bool decided = settings.kind == settings_.kind && capacity == capacity_;
  settings_ = settings;
  capacity_ = capacity;
  if (!decided) changes_.clear();
  period_start_ = in_force_since_ = now;
  used_ = used;
  above_ = low_ = Duration::zero();
  find_next_event();
}

}  // namespace retrystorm
