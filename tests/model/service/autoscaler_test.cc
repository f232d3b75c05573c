#include "model/service/autoscaler.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

constexpr TimePoint kCreated{1h};
constexpr AutoscaleSettings kTracking{.kind = AutoscaleKind::kTargetTracking};

// An autoscaler and the use that it measures: a demand per second, or the capacity if that is less.
class ScaledTable {
 public:
  ScaledTable(const AutoscaleSettings& settings, double capacity)
      : autoscaler_(settings, capacity, kCreated), capacity_(capacity) {}

  // Runs until `until` with `demand` requests per second. Returns the changes: the time in minutes, and
  // the new capacity.
  std::vector<std::pair<double, double>> run(Duration until, double demand, bool limited = true) {
    std::vector<std::pair<double, double>> changes;
    while (autoscaler_.next_event() <= kCreated + until) {
      const TimePoint at = autoscaler_.next_event();
      used_ += to_seconds(at - now_) * (limited ? std::min(demand, capacity_) : demand);
      now_ = at;
      const double capacity = autoscaler_.advance(static_cast<std::uint64_t>(used_ + 0.5));
      if (capacity == capacity_) continue;
      capacity_ = capacity;
      changes.emplace_back(to_seconds(at - kCreated) / 60, capacity);
    }
    return changes;
  }

  Autoscaler& autoscaler() { return autoscaler_; }
  double capacity() const { return capacity_; }

 private:
  Autoscaler autoscaler_;
  double capacity_;
  double used_ = 0;
  TimePoint now_ = kCreated;
};

using CapacityAt = std::pair<double, double>;

TEST(Autoscaler, DoesNothingWhenOff) {
  EXPECT_EQ(Autoscaler({}, 100, kCreated).next_event(), TimePoint::max());
}

// Two minutes above 70 %, and one until it is in force: each step multiplies the capacity by 1/0.7.
TEST(Autoscaler, GrowsStepByStepWhereDemandIsFarAbove) {
  ScaledTable table(kTracking, 100);
  EXPECT_THAT(
      table.run(22min, 1e6),
      ElementsAre(CapacityAt(3, 143), CapacityAt(6, 205), CapacityAt(9, 293), CapacityAt(12, 419),
                  CapacityAt(15, 599), CapacityAt(18, 856), CapacityAt(21, 1223)));
}

TEST(Autoscaler, BringsTheUseToTheTarget) {
  ScaledTable table(kTracking, 100);
  EXPECT_THAT(table.run(60min, 90), ElementsAre(CapacityAt(3, 129)));
  // At the target nothing changes.
  ScaledTable even(kTracking, 100);
  EXPECT_THAT(even.run(60min, 70), ElementsAre());
}

// A burst admits more than the capacity.
TEST(Autoscaler, FollowsTheUseAndNotTheLimit) {
  ScaledTable table(kTracking, 100);
  EXPECT_THAT(table.run(10min, 200, false), ElementsAre(CapacityAt(3, 286)));
}

// Low is under 50 %, for fifteen consecutive minutes.
TEST(Autoscaler, ShrinksAfterFifteenLowMinutes) {
  ScaledTable table(kTracking, 100);
  EXPECT_THAT(table.run(40min, 35), ElementsAre(CapacityAt(16, 50)));
  ScaledTable half(kTracking, 100);
  EXPECT_THAT(half.run(60min, 50), ElementsAre());
  ScaledTable interrupted(kTracking, 100);
  interrupted.run(14min, 35);
  interrupted.run(15min, 60);
  EXPECT_THAT(interrupted.run(32min, 35), ElementsAre(CapacityAt(31, 50)));
}

TEST(Autoscaler, StaysBetweenItsBounds) {
  AutoscaleSettings settings = kTracking;
  settings.least = 80;
  settings.most = 120;
  ScaledTable table(settings, 100);
  EXPECT_THAT(table.run(10min, 1e6), ElementsAre(CapacityAt(3, 120)));
  EXPECT_THAT(table.run(2h, 0), ElementsAre(CapacityAt(26, 80)));
}

// Four at any time of a day and then one an hour: 27, and no more, however low the use is.
TEST(Autoscaler, DecreasesTwentySevenTimesADayAtMost) {
  AutoscaleSettings settings = kTracking;
  settings.in_after = 1min;
  settings.delay = 1min;
  ScaledTable table(settings, 40'000);
  std::vector<CapacityAt> changes;
  for (int minute = 1; minute < 24 * 60; ++minute) {
    // Always low, but never so low that it falls to the minimum at once.
    for (const CapacityAt& each : table.run(minute * 1min, 0.49 * table.capacity())) {
      changes.push_back(each);
    }
  }
  ASSERT_EQ(changes.size(), 27u);
  EXPECT_EQ(changes[3].first, 8);  // a low minute, and one until it is in force
  EXPECT_EQ(changes[4].first, 68);
}

TEST(Autoscaler, KeepsToItsConfiguredTimes) {
  const AutoscaleSettings settings{.kind = AutoscaleKind::kTargetTracking,
                                   .period = 1s,
                                   .target = 0.5,
                                   .out_after = 3s,
                                   .in_after = 5s,
                                   .in_margin = 0.3,
                                   .delay = 2500ms};
  ScaledTable table(settings, 100);
  // From then on only whole seconds count.
  EXPECT_THAT(table.run(12s, 1e6),
              ElementsAre(CapacityAt(5.5 / 60, 200), CapacityAt(11.5 / 60, 400)));
}

// Twice the highest minute, half an hour later, and never less afterwards.
TEST(Autoscaler, OnDemandAdmitsTwiceAnEarlierPeak) {
  ScaledTable table({.kind = AutoscaleKind::kOnDemand}, 4000);
  EXPECT_THAT(table.run(60min, 2000), ElementsAre());
  EXPECT_THAT(table.run(85min, 3000), ElementsAre());
  EXPECT_THAT(table.run(91min, 0), ElementsAre(CapacityAt(91, 6000)));
  EXPECT_THAT(table.run(100min, 1e6), ElementsAre());
  EXPECT_THAT(table.run(200min, 0), ElementsAre(CapacityAt(122, 12'000)));
}

TEST(Autoscaler, TakesNewSettingsWhileItRuns) {
  ScaledTable table(kTracking, 100);
  table.run(2min, 1e6);  // decided
  table.autoscaler().configure(kCreated + 150s, kTracking, 100, 12'000);
  EXPECT_THAT(table.run(3min, 1e6), ElementsAre(CapacityAt(3, 143)));  // nothing has changed
  AutoscaleSettings lower = kTracking;
  lower.most = 150;
  table.autoscaler().configure(kCreated + 190s, lower, 143, 20'000);
  EXPECT_EQ(table.autoscaler().next_event(), kCreated + 250s);
  table.autoscaler().configure(kCreated + 200s, {}, 143, 20'000);
  EXPECT_EQ(table.autoscaler().next_event(), TimePoint::max());
}

}  // namespace
}  // namespace retrystorm
