// What the command line says of callers whose options the file of --topology sets.
#pragma once

#include "model/base/option_list.h"
#include "model/graph/topology.h"
#include "model/run/workload.h"
#include "simulator/graph/topology_file.h"

namespace retrystorm {

// Adds the options of `asked`, those of the command line, that have no effect on any caller of a topology whose
// clients have sections in its file: because the sections set them, or as they have none on clients of that kind.
void find_unused(UnusedOptions& unused, const WorkloadOptions& asked, const Topology& topology,
                 const TopologyFile& file);

}  // namespace retrystorm
