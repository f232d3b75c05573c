// The description of one simulated run.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/base/duration.h"
#include "model/graph/topology.h"
#include "model/run/disturbance.h"
#include "model/run/recovery.h"
#include "model/run/timeline.h"
#include "model/run/workload.h"
#include "model/service/picker.h"
#include "model/service/service_options.h"

namespace retrystorm {

// An event at a time of the run, and the settings from then on.
struct Change {
  enum class Kind { kOutageBegins, kOutageEnds, kFaultBegins, kFaultEnds, kAction };

  Duration t{0};
  Kind kind = Kind::kAction;
  std::size_t node = 0;        // the service that it is for, where there are several
  Disturbance::Kind what{};    // of an outage or a fault
  std::string announcement{};  // the name of an action or a fault; empty: a further step of a ramp
  Lasting leaves = Lasting::kNothing;  // of an action
  std::optional<RestartedHosts> restart{};
  ServiceOptions service{};
  std::optional<ServiceOptions> service_beside{};  // of the hosts that the outage does not hit
  double load = 1;                                 // factor on the offered load
  double load_beside = 1;                          // the same without that of the outage
};

// What to simulate. Option values must be in range. `max_connections` must be set here and in the
// service of each change.
struct Scenario {
  ServiceOptions service;
  HostSettings hosts{};
  WorkloadOptions workload;
  std::uint64_t seed = 0;
  std::size_t syn_linear_timeouts = 4;  // of the clients' kernel, see `SynRepeats`
  Disturbance outage{};                 // begins and ends among `changes`
  std::optional<Duration> outage_at{};  // no outage if not set
  Duration outage_for{0};
  std::vector<Change> changes{};  // ordered by time
  Duration length{0};             // of the whole run
  Duration report_interval = std::chrono::seconds(5);
  Duration server_report_interval = std::chrono::seconds(1);
  Topology
      topology{};  // empty: there is one service. Its first node and edge are `service` and `workload`
  std::size_t disturbed = 0;  // the service that has the outage, where there are several
  std::size_t trace = 0;      // how many requests to trace, from the outage on
  bool traces_all = false;    // from the start of the run on

  // Those of the service that has the outage.
  const HostSettings& disturbed_hosts() const {
    return topology.empty() ? hosts : topology.nodes[disturbed].hosts;
  }
};

inline bool loses_connections(const Scenario& scenario) {
  return scenario.outage_at && loses_connections(scenario.workload, scenario.outage);
}

}  // namespace retrystorm
