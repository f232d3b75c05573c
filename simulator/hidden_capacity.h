// The hidden capacity: the load below which a collapsed service comes back by itself.
//
// A service has two capacities (Bronson et al., "Metastable Failures in Distributed Systems", HotOS
// 2021): the one that it is seen to have while it is well, and a lower, hidden one, below which it
// also recovers when something has brought it down. Between them it is vulnerable: well until it is
// hit, and then down for good.
//
// Measured is the greatest share of its load that lets it come back: it is hit as the scenario has
// it, left alone for a while to see that it stays down, and then the load is cut to a share that
// stays in force. It has come back when in three windows of five seconds running, taken together,
// attempts succeed nearly as often as before the outage (90 % of that share of those that ended).
// For each seed the share is found by bisection; so a distribution of thresholds is had, one of
// each seed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "simulator/scenario_options.h"
#include "simulator/statistics.h"

namespace retrystorm {

struct ReliefOptions {
  Duration after = std::chrono::seconds(60);  // from the outage's end until the load is cut
  Duration hold = std::chrono::minutes(5);    // within which the service must come back

  bool operator==(const ReliefOptions&) const = default;
};

// Shares are looked for in steps of this, the least of them being one step.
constexpr double kReliefStep = 1.0 / 128;

// What became of one seed.
struct Threshold {
  std::uint64_t seed = 0;
  bool stays_down = false;  // with all of its load
  // The greatest share of the load with which it comes back; 0 = not even with the least. 1 for a
  // service that does not stay down.
  double share = 1;
  double baseline_ok = 0;  // OK/s before the outage
};

struct HiddenCapacity {
  std::vector<Threshold> thresholds{};  // by seed
  std::size_t stay_down = 0;            // of these
  Median share{};                       // of those that stay down
  std::size_t never = 0;                // of those: not even with the least share
  double baseline_ok = 0;               // OK/s before the outage, mean of all
};

// Finds the threshold of so many seeds, counted up from `seed`, shared among threads; the result is
// the same with any number of them. Nothing when `stop` (asked from several threads) ended it
// early. Throws std::invalid_argument when the scenario has no outage, and what `run_on_threads`
// throws.
std::optional<HiddenCapacity> find_hidden_capacity(const ScenarioOptions& scenario,
                                                   const ReliefOptions& relief, std::size_t seeds,
                                                   std::uint64_t seed, std::size_t threads,
                                                   const std::function<bool()>& stop);

// The scenario of one run of the search: the load cut to `share`, or as it is.
Scenario relieved(const ScenarioOptions& scenario, const ReliefOptions& relief, double share,
                  std::uint64_t seed);

}  // namespace retrystorm
