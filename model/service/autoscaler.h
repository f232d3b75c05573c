// A capacity that follows its use with a delay, as the tables of a cloud database do.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>

#include "model/base/duration.h"
#include "model/base/option_list.h"

namespace retrystorm {

enum class AutoscaleKind {
  kNone,
  kTargetTracking,  // keeps a share of the capacity in use
  kOnDemand,        // twice the highest use, once that is old enough
};

// The defaults are DynamoDB's, from its Developer Guide ("Managing throughput capacity
// automatically with DynamoDB auto scaling", "Service quotas", "On-demand mode"). The guide does
// not say everything. These are our assumptions: how long a change takes, that use below half is
// low for tables, that a table's new capacity is rounded up to whole units, and that a peak is the
// mean of a period.
struct AutoscaleSettings {
  AutoscaleKind kind = AutoscaleKind::kNone;
  Duration period = std::chrono::minutes(1);     // the use is measured over this time
  double target = 0.7;                           // the target share of capacity in use
  Duration out_after = std::chrono::minutes(2);  // scale out after this long above target
  Duration in_after = std::chrono::minutes(15);  // scale in after this long with low use
  double in_margin = 0.2;                        // use is low this far below the target
  Duration delay = std::chrono::minutes(1);      // from a decision until it takes effect
  std::uint64_t decreases = 4;                   // allowed per day at any time
  double least = 1, most = 40'000;               // bounds of the capacity
  Duration doubling = std::chrono::minutes(30);  // on demand: the minimum age of a peak

  bool operator==(const AutoscaleSettings&) const = default;
};

void declare_options(OptionList& options, AutoscaleSettings& settings);

// Throws std::invalid_argument with a readable message if settings contradict each other, or the
// initial capacity is out of bounds.
void check(const AutoscaleSettings& settings, double capacity);

// Checks the use at the end of each period, and changes the capacity after a delay. Only
// consecutive whole periods at the current capacity count. While a change is pending, nothing is
// decided. Not thread-safe.
class Autoscaler {
 public:
  Autoscaler(const AutoscaleSettings& settings, double capacity, TimePoint start);

  // When the next check or change is due. `TimePoint::max()` without an autoscaler.
  TimePoint next_event() const { return next_event_; }

  // Call when `next_event` is due. `used`: requests admitted since the start. Returns the capacity
  // from then on.
  double advance(std::uint64_t used);

  // Applies new settings and a new capacity. If either differs from before, a new period begins. A
  // pending change still takes effect, unless the capacity was set by hand or the kind of
  // autoscaler changed. `used`: as above.
  void configure(TimePoint now, const AutoscaleSettings& settings, double capacity,
                 std::uint64_t used);

 private:
  struct Change {
    TimePoint at;
    double capacity;
  };

  void look(TimePoint now, double use);  // a period is over; `use` is per second
  void track(TimePoint now, double use);
  bool may_decrease(TimePoint now);
  void find_next_event();

  AutoscaleSettings settings_;
  double capacity_;
  TimePoint day_;  // start of the day for which decreases are counted
  TimePoint period_start_;
  TimePoint next_event_ = TimePoint::max();
  std::uint64_t used_ = 0;      // at the start of the period
  std::deque<Change> changes_;  // pending, ordered by time
  TimePoint in_force_since_;
  Duration above_{0}, low_{0};   // time above target or low, without a break
  std::uint64_t decreases_ = 0;  // on this day
  TimePoint last_decrease_ = TimePoint::min();
};

}  // namespace retrystorm
