// What one simulated run is about.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/base/duration.h"
#include "model/run/disturbance.h"
#include "model/run/workload.h"
#include "model/service/service_options.h"

namespace retrystorm {

// What becomes of a request whose client has hung up.
enum class Abandoned {
  kServe,   // it is served to the end, as in reality
  kSkip,    // it is left out when the server comes to accept it
  kCancel,  // the service ends it as soon as the client hangs up
};

// Something that happens at a time of the run, and what is in force from then on.
struct Change {
  enum class Kind { kOutageBegins, kOutageEnds, kAction };

  Duration t{0};
  Kind kind = Kind::kAction;
  std::string told{};  // what observers are told of an action; empty: nothing
  bool restart = false;
  ServiceOptions service{};
  double load = 1;  // the clients want so many times as much
};

// What is to be simulated. Option values must be in range; `max_connections` must be set, also of
// the service in each change.
struct Scenario {
  ServiceOptions service;
  WorkloadOptions workload;
  std::uint64_t seed = 0;
  Abandoned abandoned = Abandoned::kServe;
  std::size_t syn_linear_timeouts = 4;  // of the clients' kernel: see `SynRepeats`
  Disturbance outage{};                 // what begins and ends among the changes
  std::optional<Duration> outage_at{};  // no outage when not set
  Duration outage_for{0};
  std::vector<Change> changes{};  // by time
  Duration length{0};             // of the whole run
  Duration report_interval = std::chrono::seconds(5);
  Duration server_report_interval = std::chrono::seconds(1);
  std::size_t trace = 0;  // so many requests are followed
};

}  // namespace retrystorm
