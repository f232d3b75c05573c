// What a person says of a run: the scenario before it is scaled.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/base/option_list.h"
#include "model/run/timeline.h"
#include "simulator/scenario.h"

namespace retrystorm {

// Connections accepted at a time when nothing else is said. The real server takes what its machine
// allows (`ulimit -n`), a number that says nothing about the experiment: this one is the same
// everywhere, and so large that a service which comes to it has collapsed long before.
constexpr std::size_t kSimulatedConnections = 20'000;

struct ScenarioOptions {
  ServiceOptions service{.max_connections = kSimulatedConnections};
  WorkloadOptions workload;
  TimelineOptions timeline;
  Duration outage_at = std::chrono::seconds(30);
  std::optional<Duration> outage_for;  // as `outage_length` says when not given
  Duration observe = std::chrono::seconds(60);
  Duration time_limit = std::chrono::hours(24);  // of a job
  Duration report_interval = std::chrono::seconds(5);
  Duration server_report_interval = std::chrono::seconds(1);
  Abandoned abandoned = Abandoned::kServe;
  std::size_t syn_linear_timeouts = 4;
  double scale = 1;
  std::size_t trace = 0;

  // Zero: there is none. A job has none unless it is asked for.
  Duration outage_length() const {
    const bool usual = workload.arrivals != Arrivals::kJob;
    return outage_for.value_or(usual ? std::chrono::seconds(20) : std::chrono::seconds(0));
  }
};

// All of them but the intervals of the reports and the trace, which are no part of what happens.
void declare_options(OptionList& options, ScenarioOptions& scenario);

// Adds the options that were given but can have no effect.
void find_unused(UnusedOptions& unused, const ScenarioOptions& scenario);

// The scenario of one run: scaled, with the limit on connections set.
Scenario make_scenario(const ScenarioOptions& options, std::uint64_t seed);

// About how much memory one run of the scenario takes at its peak, in bytes.
double memory_needed(const Scenario& scenario);

}  // namespace retrystorm
