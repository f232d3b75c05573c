// One run of the simulator with everything that validation reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/base/duration.h"
#include "model/run/request_trace.h"
#include "model/run/run_observer.h"
#include "model/service/service_observer.h"
#include "simulator/graph/topology_file.h"
#include "study/named_options.h"

namespace retrystorm::validation {

// What to run, and what to record of it.
struct Experiment {
  NamedOptions options{};
  TopologyFile topology{};       // empty: one service
  Duration interval{0};          // of the clients' figures; 0: not recorded
  Duration service_interval{0};  // of the service's figures; 0: not recorded
  std::size_t traced = 0;        // how many requests to trace
};

struct ServiceReport {
  Duration t{0};  // end of the interval, since the start
  ServerInterval interval{};
};

struct ObservedRun {
  Summary summary{};
  std::vector<RunInterval> intervals{};
  std::vector<HostIntervals> hosts{};  // in these intervals
  std::vector<ServiceReport> service{};
  std::vector<TracedRequest> requests{};
};

// Runs the simulator. Throws std::invalid_argument with a readable message if an option's value is
// refused, or if an option has no effect.
ObservedRun observe(const Experiment& experiment, std::uint64_t seed);

}  // namespace retrystorm::validation
