// The description of one simulated run.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/base/duration.h"
#include "model/run/chain_report.h"
#include "model/run/disturbance.h"
#include "model/run/workload.h"
#include "model/service/service_options.h"

namespace retrystorm {

// An event at a time of the run, and the settings from then on.
struct Change {
  enum class Kind { kOutageBegins, kOutageEnds, kAction };

  Duration t{0};
  Kind kind = Kind::kAction;
  std::string announcement{};  // what observers get for an action; empty: nothing
  bool restart = false;
  ServiceOptions service{};
  double load = 1;  // factor on the offered load
};

// A service behind the first one, and how it is called.
struct ServiceBehind {
  ServiceOptions service{};
  WorkloadOptions caller{};
};

// What to simulate. Option values must be in range. `max_connections` must be set here and in the
// service of each change.
struct Scenario {
  ServiceOptions service;
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
  // The services behind the first one. Each is called by the one before it, and the first of them by `service`.
  std::vector<ServiceBehind> behind{};
  ChainNames chain{};         // of all services; empty without a chain
  std::size_t disturbed = 0;  // the service that has the outage and whose settings change
  std::size_t trace = 0;      // how many requests to trace
};

inline bool loses_connections(const Scenario& scenario) {
  return scenario.outage_at && loses_connections(scenario.workload, scenario.outage);
}

}  // namespace retrystorm
