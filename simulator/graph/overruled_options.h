// What the command line says of callers and services whose options the file of --topology sets.
#pragma once

#include <functional>
#include <string>

#include "model/base/option_list.h"
#include "model/graph/topology.h"
#include "model/run/workload.h"
#include "model/service/service_options.h"
#include "simulator/graph/topology_file.h"

namespace retrystorm {

// Adds the options of `asked`, those of the command line, that have no effect on any caller of a topology whose
// clients have sections in its file: because the sections set them, or as they have none on clients of that kind.
void find_unused(UnusedOptions& unused, const WorkloadOptions& asked, const Topology& topology,
                 const TopologyFile& file);

// Adds the options of `asked` about retries and hedges that no caller takes: with this `--retry-at` only some retry, and
// their sections set the options. `file`: empty for a chain.
void find_unused(UnusedOptions& unused, const WorkloadOptions& asked, const Topology& topology,
                 const TopologyFile& file, const std::string& retry_at,
                 const std::function<bool(const GraphEdge& edge)>& retries);

// Adds the options of services, those of the command line, that each service of the file sets itself.
void find_unused(UnusedOptions& unused, const ServiceOptions& asked, Waiting waiting,
                 const TopologyFile& file);

}  // namespace retrystorm
