#include "study/scenario_checks.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>

#include "model/base/duration.h"
#include "model/base/text.h"
#include "model/run/recovery.h"

namespace retrystorm {

void check_memory(const Scenario& scenario, std::size_t at_once, double there) {
  const double needed = memory_needed(scenario) * static_cast<double>(at_once);
  if (needed <= 0.9 * there) return;
  const auto gigabytes = [](double bytes) { return print_number(std::round(bytes / 1e8) / 10); };
  throw std::runtime_error("this needs about " + gigabytes(needed) +
                           " GB of memory, but there are only " + gigabytes(std::max(there, 0.0)) +
                           ": choose a smaller --scale, a shorter --observe, fewer --runs or fewer "
                           "--threads");
}

void check_length(const Scenario& scenario) {
  constexpr Duration kLongest = std::chrono::hours(100'000);
  if (scenario.length <= kLongest) return;
  throw std::invalid_argument("the run is too long: at most " + format_duration(kLongest) +
                              " from its start to the end of --observe");
}

void check_verdict(const Scenario& scenario) {
  if (!scenario.outage_at) return;
  constexpr Duration kBefore = RecoveryTracker::kWindow, kAfter = RecoveryTracker::kLeastAfter;
  const Duration after = scenario.length - *scenario.outage_at - scenario.outage_for;
  if (*scenario.outage_at >= kBefore && after >= kAfter) return;
  throw std::invalid_argument("the verdicts of many runs need an --outage-at of at least " +
                              format_duration(kBefore) + " and an --observe of at least " +
                              format_duration(kAfter));
}

Scenario checked_scenario(const ScenarioOptions& options, std::uint64_t seed, std::size_t at_once,
                          double there, bool with_verdict) {
  Scenario scenario = make_scenario(options, seed);
  check_length(scenario);
  if (with_verdict) check_verdict(scenario);
  check_memory(scenario, at_once, there);
  return scenario;
}

}  // namespace retrystorm
