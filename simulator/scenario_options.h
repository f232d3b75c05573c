// The options of a run as the user gives them: the scenario before it is scaled.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/base/option_list.h"
#include "model/run/outlook.h"
#include "model/run/timeline.h"
#include "simulator/graph/topology_options.h"
#include "simulator/scenario.h"

namespace retrystorm {

// The default limit on open connections. The real server accepts what its machine allows
// (`ulimit -n`), a number without meaning for the experiment. This limit is the same everywhere. It
// is so large that a service which reaches it has long collapsed.
constexpr std::size_t kSimulatedConnections = 20'000;

struct ScenarioOptions {
  ServiceOptions service{.max_connections = kSimulatedConnections};
  HostSettings hosts;
  WorkloadOptions workload;
  TimelineOptions timeline;
  GraphOptions graph;
  Duration outage_at = std::chrono::seconds(30);
  std::optional<Duration> outage_for;  // see `outage` for the default
  Duration observe = std::chrono::seconds(60);
  Duration time_limit = std::chrono::hours(24);  // for a job
  Duration report_interval = std::chrono::seconds(5);
  Duration server_report_interval = std::chrono::seconds(1);
  std::size_t syn_linear_timeouts = 4;
  double scale = 1;
  double capacity_within = 0;  // how well the service is known, a share; see AnswerTrials
  std::size_t trace = 0;

  // What the run is about. A job and periodic arrivals have no outage by default (its length is zero). Where hosts
  // restart (--at) that is it, unless another one is given: from the first restart until the last host is as before.
  // So is more load than usual: until it is over, or for a moment if it lasts to the end.
  // That connections are lost takes no time: what happens afterwards belongs to the recovery.
  struct Outage {
    Disturbance what{};
    Duration at{0}, length{0};
  };
  Outage outage() const;
  std::optional<Outage> load_step() const;  // by --at, to more than usual
  Duration outage_length() const { return outage().length; }
  // Without one that is made by actions.
  Duration own_outage_length() const;
  // Those of the service that has the outage.
  HostSettings disturbed_hosts() const;
};

// The services and calls of a chain or topology, not scaled. Throws std::invalid_argument with a readable message.
Topology topology_of(const ScenarioOptions& options);

// Declares all options but the trace and the report intervals, which do not affect the run.
void declare_options(OptionList& options, ScenarioOptions& scenario);

// The options that were given but can have no effect. `named`: those that somebody typed, even with their usual value.
UnusedOptions unused_options(const ScenarioOptions& scenario,
                             const std::vector<std::string>& named = {});

// Makes the scenario of one run. It is scaled, and its limit on connections is set.
Scenario make_scenario(const ScenarioOptions& options, std::uint64_t seed);

// What can be said about the run before it begins.
Outlook look_ahead(const ScenarioOptions& options);
// The same of each kind of clients, by its name. There is one without a name if there are no kinds.
std::vector<OutlookOfRow> look_ahead_at_all(const ScenarioOptions& options);

// Estimates the peak memory of one run of the scenario, in bytes.
double memory_needed(const Scenario& scenario);

// Ordered by time. At the same time, the beginning and the end of the outage come first. The
// services have their configured size and are not scaled yet. Throws std::invalid_argument with a
// readable message if an action does not fit this service, as NoEffect if it does nothing to it.
std::vector<Change> changes(const ScenarioOptions& options);

}  // namespace retrystorm
