// The hidden capacity: the load below which a collapsed service recovers without help.
//
// A service has two capacities (Bronson et al., "Metastable Failures in Distributed Systems", HotOS
// 2021): the one that it shows while it is healthy, and a lower, hidden one, below which it also
// recovers from a failure. Between them it is vulnerable: it is healthy until a failure, and then
// stays down.
//
// The search finds the largest share of the load at which the service recovers. The scenario's
// outage hits it. It is left alone for a while, to see that it stays down. Then the load is cut to
// a share of itself, until the end. The service has recovered if attempts succeed nearly as often
// as before the outage (90 % of the success share then) in three consecutive windows of five
// seconds, taken together. The share is found by bisection for each seed, which gives a
// distribution of thresholds.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "simulator/scenario_options.h"
#include "study/statistics.h"

namespace retrystorm {

struct ReliefOptions {
  Duration after = std::chrono::seconds(60);  // from the outage's end until the load is cut
  Duration hold = std::chrono::minutes(5);    // within which the service must come back

  bool operator==(const ReliefOptions&) const = default;
};

// The step between shares, and the smallest share that is tried.
constexpr double kReliefStep = 1.0 / 128;

// The result of one seed.
struct Threshold {
  std::uint64_t seed = 0;
  bool stays_down = false;  // at full load
  // The largest share of the load at which the service recovers. 0: not even at the smallest share.
  // 1: the service does not stay down.
  double share = 1;
  double baseline_ok = 0;  // OK/s before the outage
};

struct HiddenCapacity {
  std::vector<Threshold> thresholds{};  // by seed
  std::size_t stay_down = 0;            // how many seeds stay down
  Median share{};                       // of the seeds that stay down
  std::size_t never = 0;                // how many do not recover even at the smallest share
  double baseline_ok = 0;               // OK/s before the outage, mean of all
};

// Finds the thresholds of `seeds` consecutive seeds from `seed`. The result does not depend on the
// number of threads. Returns nothing if `stop`, which is called from several threads, ended the
// search. Throws std::invalid_argument if the scenario has no outage, and what `run_on_threads`
// throws.
std::optional<HiddenCapacity> find_hidden_capacity(const ScenarioOptions& scenario,
                                                   const ReliefOptions& relief, std::size_t seeds,
                                                   std::uint64_t seed, std::size_t threads,
                                                   const std::function<bool()>& stop);

// The scenario of one run of the search. The load is cut to `share`; 1 leaves it as it is.
Scenario relieved(const ScenarioOptions& scenario, const ReliefOptions& relief, double share,
                  std::uint64_t seed);

}  // namespace retrystorm
