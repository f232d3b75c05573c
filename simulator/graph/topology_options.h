// Services behind services, as the user gives them, and what can be said about them before the run begins.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/statement.h"
#include "model/graph/topology.h"
#include "model/run/workload.h"
#include "model/service/service_options.h"
#include "simulator/graph/topology_file.h"

namespace retrystorm {

// A service of a chain. Each calls the next one, and answers when it has the answer.
struct ChainedService {
  std::string name{};
  std::size_t workers = 1;  // of each host
  std::optional<std::size_t> replicas{};
  ServiceTime service_time = ServiceTime::fixed(Duration::zero());
  // Of the attempts that call it; empty: that of the clients. Not of the first service.
  std::optional<Duration> timeout{};
};

struct GraphOptions {
  std::vector<ChainedService> chain{};  // empty: not given
  TopologyFile topology{};              // likewise
  Waiting waiting = Waiting::kHold;
  // Which callers retry: all, none, top (the clients), bottom (those who call a service that calls nobody), and names of
  // callers or of their calls, as in "clients+api.db"; `check` refuses others.
  std::string retry_at = "all";
  DeadlinePropagation deadline = DeadlinePropagation::kNone;
  std::string outage_of{};  // empty: of the last one

  bool on() const { return !chain.empty() || !topology.empty(); }
};

// Parses "api 32x5ms > orders 16x20ms >250ms db 3*8x40ms": hosts, workers of each and service time of each service, and
// after the arrow the timeout of the calls if it is not that of the clients. Throws std::invalid_argument with a readable
// message.
std::vector<ChainedService> parse_chain(std::string_view text);

// The text that `parse_chain` reads.
std::string print_chain(const std::vector<ChainedService>& services);

void declare_options(OptionList& options, GraphOptions& graph);

// The options of a service in a graph.
void declare_node_options(OptionList& options, GraphNode& node, NamedPlan& calls);

// Adds the options of the command line that have no effect on the services of the graph, which have their own.
// `named`, here and below: the options that somebody typed, even with their usual value.
void find_unused(UnusedOptions& unused, const GraphOptions& graph, const ServiceOptions& service,
                 const HostSettings& hosts, const std::vector<std::string>& named);

// Adds the options of retries and hedges of `clients` that no caller takes, because of --retry-at.
void find_unused_retries(UnusedOptions& unused, const GraphOptions& graph,
                         const WorkloadOptions& clients, const std::vector<std::string>& named,
                         const Topology& topology);

// The options that each service sets itself.
std::set<std::string> set_by_services(const GraphOptions& graph);

// Throws std::invalid_argument with a readable message if these cannot go together.
void check(const GraphOptions& graph, const WorkloadOptions& workload,
           const ServiceOptions& service, const HostSettings& hosts,
           const std::optional<Disturbance>& outage);

// The services and their calls. Each has the options of `service` and `hosts`, and those that call the strategy of
// `clients`, where the graph does not say otherwise. Nothing is scaled. Any outage hits all hosts.
Topology make_topology(const GraphOptions& graph, const ServiceOptions& service,
                       const HostSettings& hosts, const WorkloadOptions& clients);

// The number of the service with this name; the last one if it is empty. Throws std::invalid_argument
// with a readable message, which begins with `option`, if there is none.
std::size_t find_node(const Topology& topology, std::string_view name, std::string_view option);

// Computed from means, as if nothing ever waited for a worker.
struct GraphOutlook {
  // What each service can do and is asked for, and how often one may be called. The first value of each is its name.
  Statements figures{};
  // Services that cannot do what is wanted, and callers that give up while what they called still tries.
  Statements warnings{};
};

// `load`: the clients' requests a second. `disturbed`: the service that has the outage.
GraphOutlook look_ahead(const Topology& topology, std::size_t disturbed, double load);

// Adds the options of `asked`, those of the command line, that have no effect on any caller of a topology whose
// clients have sections in its file: because the sections set them, or as they have none on clients of that kind.
void find_unused(UnusedOptions& unused, const WorkloadOptions& asked,
                 const std::vector<std::string>& named, const Topology& topology,
                 const TopologyFile& file);

// Adds the options of `asked` about retries and hedges that no caller takes: with this `--retry-at` only some retry, and
// their sections set the options. `file`: empty for a chain.
void find_unused(UnusedOptions& unused, const WorkloadOptions& asked,
                 const std::vector<std::string>& named, const Topology& topology,
                 const TopologyFile& file, const std::string& retry_at,
                 const std::function<bool(const GraphEdge& edge)>& retries);

// Adds the options of services, those of the command line, that each service of the file sets itself.
void find_unused(UnusedOptions& unused, const GraphNode& asked,
                 const std::vector<std::string>& named, const TopologyFile& file);

}  // namespace retrystorm
