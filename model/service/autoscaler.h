// A capacity that follows its use, but late: what a cloud's tables do by themselves.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <limits>

#include "model/base/duration.h"
#include "model/base/option_list.h"

namespace retrystorm {

enum class AutoscaleKind {
  kNone,
  kTargetTracking,  // so that a share of the capacity is in use
  kOnDemand,        // twice the highest use that there has been, until some time ago
};

// The defaults are DynamoDB's, as its Developer Guide documents them ("Managing throughput capacity
// automatically with DynamoDB auto scaling", "Service quotas", "On-demand mode"). Not documented,
// and ours: how long a change takes, that use below half is low for tables, that a table's new
// capacity is rounded up to whole units, and that a peak is the mean of a period.
struct AutoscaleSettings {
  AutoscaleKind kind = AutoscaleKind::kNone;
  Duration period = std::chrono::minutes(1);     // over which the use is measured
  double target = 0.7;                           // the share of the capacity to be in use
  Duration out_after = std::chrono::minutes(2);  // so long above the target: more capacity
  Duration in_after = std::chrono::minutes(15);  // so long low: less
  double in_margin = 0.2;                        // low is so far under the target
  Duration delay = std::chrono::minutes(1);      // from the decision until it is in force
  std::uint64_t decreases = 4;                   // that a day has at any time
  double least = 1, most = 40'000;               // capacity
  Duration doubling = std::chrono::minutes(30);  // on demand: so old must a peak be

  bool operator==(const AutoscaleSettings&) const = default;
};

void declare_options(OptionList& options, AutoscaleSettings& settings);

// Adds the options that were given but can have no effect.
void find_unused(UnusedOptions& unused, const AutoscaleSettings& settings);

// Throws std::invalid_argument with a sentence for a person when settings contradict each other, or
// the capacity to begin with is not between the bounds.
void check(const AutoscaleSettings& settings, double capacity);

// Looks at the use at the end of each period, and changes the capacity a while later. Only whole
// periods of the capacity in force count, one after the other; while a change is under way nothing
// is decided. Not for use from two threads at once.
class Autoscaler {
 public:
  Autoscaler(const AutoscaleSettings& settings, double capacity, TimePoint start);

  // When something is to be looked at or changed; `TimePoint::max()` without an autoscaler.
  TimePoint next_event() const { return next_event_; }

  // That moment has come. `used`: what was let in since the start. Returns the capacity from then
  // on.
  double advance(std::uint64_t used);

  // From now on these settings and this capacity are in force, if they are others than before: a
  // new period begins. A change that was decided on still comes, unless the capacity was set by
  // hand or the autoscaler is another one. `used`: as above.
  void configure(TimePoint now, const AutoscaleSettings& settings, double capacity,
                 std::uint64_t used);

 private:
  struct Change {
    TimePoint at;
    double capacity;
  };

  void look(TimePoint now, double use);  // a period has passed, with so much a second
  void track(TimePoint now, double use);
  bool may_decrease(TimePoint now);
  void find_next_event();

  AutoscaleSettings settings_;
  double capacity_;
  TimePoint day_;  // when the day began that decreases are counted for
  TimePoint period_start_;
  TimePoint next_event_ = TimePoint::max();
  std::uint64_t used_ = 0;      // until the period began
  std::deque<Change> changes_;  // decided on, in the order of their times
  TimePoint in_force_since_;
  Duration above_{0}, low_{0};   // for so long, without a break
  std::uint64_t decreases_ = 0;  // of the day
  TimePoint last_decrease_ = TimePoint::min();
};

}  // namespace retrystorm
