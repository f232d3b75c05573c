#include "study/hidden_capacity.h"

#include <array>
#include <stdexcept>

#include "model/run/recovery.h"
#include "model/run/run_observer.h"
#include "simulator/simulation.h"
#include "study/bisection.h"
#include "study/evaluator.h"

namespace retrystorm {
namespace {

constexpr double kRecoveredShare =
    0.9;  // of the share of attempts that succeeded before the outage

Duration cut_at(const ScenarioOptions& scenario, const ReliefOptions& relief) {
  return saturating_add(saturating_add(scenario.outage_at, scenario.outage_length()), relief.after);
}

// Watches a run for the service's recovery after `from`.
class RecoveryWatch : public RunObserver {
 public:
  RecoveryWatch(Duration outage_at, Duration from) : outage_at_(outage_at), from_(from) {}

  void on_interval(const RunInterval& interval) override {
    if (interval.t <= outage_at_) {
      before_.close_window(TimePoint(interval.t), interval.totals);
      calm_ = before_.baseline();
    }
    // The last windows, as far as they begin after `from`.
    if (interval.t < from_) return;
    const Counts then = totals_[windows_ % totals_.size()];
    totals_[windows_ % totals_.size()] = interval.totals;
    if (windows_++ < totals_.size()) return;
    back_ = back_ || is_well(interval.totals - then);
  }

  bool back() const { return back_; }
  double baseline_ok() const { return calm_.rates().ok; }

 private:
  static double success(const Counts& counts) {
    const std::uint64_t ended = counts.finished();
    return ended == 0 ? 0 : static_cast<double>(counts.ok) / static_cast<double>(ended);
  }

  bool is_well(const Counts& counts) const {
    return counts.ok > 0 && success(counts) >= kRecoveredShare * success(calm_.counts);
  }

  const Duration outage_at_, from_;
  RecoveryTracker before_{TimePoint()};
  RecoveryTracker::Window calm_{};
  std::array<Counts, RecoveryTracker::kConsecutiveWindows> totals_{};  // at the ends of windows
  std::size_t windows_ = 0;
  bool back_ = false;
};

}  // namespace

Scenario relieved(const ScenarioOptions& scenario, const ReliefOptions& relief, double share,
                  std::uint64_t seed) {
  ScenarioOptions options = scenario;
  options.observe = saturating_add(relief.after, relief.hold);
  options.report_interval = RecoveryTracker::kWindow;
  if (share != 1) {
    options.timeline.at.push_back(
        {.t = cut_at(scenario, relief), .action = {.kind = Action::Kind::kLoad, .factor = share}});
  }
  return make_scenario(options, seed);
}

std::optional<HiddenCapacity> find_hidden_capacity(const ScenarioOptions& scenario,
                                                   const ReliefOptions& relief, std::size_t seeds,
                                                   std::uint64_t seed, std::size_t threads,
                                                   const std::function<bool()>& stop) {
  HiddenCapacity result{.thresholds = std::vector<Threshold>(seeds)};

  const auto comes_back = [&](Threshold& threshold, double share) {
    const Scenario one = relieved(scenario, relief, share, threshold.seed);
    RecoveryWatch watch(scenario.outage_at, cut_at(scenario, relief));
    Simulation simulation(one, {.run = {&watch}});
    simulation.run([&] { return watch.back() || stop(); });
    threshold.baseline_ok = watch.baseline_ok();
    return watch.back();
  };
  const auto find = [&](Threshold& threshold) {
    threshold.stays_down = !comes_back(threshold, 1);
    if (!threshold.stays_down) return;
    // In steps: the service recovers at `good`, but not at `bad`.
    const auto whole = static_cast<std::size_t>(1 / kReliefStep);
    const Bracket bracket = bisect(
        0, whole,
        [&](std::size_t step) {
          return comes_back(threshold, static_cast<double>(step) * kReliefStep);
        },
        stop);
    threshold.share = static_cast<double>(bracket.good) * kReliefStep;
  };

  const bool complete = Evaluator(threads, stop).each(seeds, [&](std::size_t i) {
    result.thresholds[i].seed = seed + i;
    find(result.thresholds[i]);
  });
  if (!complete) return std::nullopt;

  std::vector<double> shares;
  for (const Threshold& each : result.thresholds) {
    result.baseline_ok += each.baseline_ok / static_cast<double>(seeds);
    if (!each.stays_down) continue;
    ++result.stay_down;
    if (each.share == 0) ++result.never;
    shares.push_back(each.share);
  }
  result.share = median(std::move(shares));
  return result;
}

}  // namespace retrystorm
