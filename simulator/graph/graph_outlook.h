// What can be said about services behind services before the run begins.
#pragma once

#include <cstddef>

#include "model/base/statement.h"
#include "model/graph/topology.h"

namespace retrystorm {

// Computed from means, as if nothing ever waited for a worker.
struct GraphOutlook {
  // What each service can do and is asked for, and how often one may be called. The first value of each is its name.
  Statements figures{};
  // Services that cannot do what is wanted, and callers that give up while what they called still tries.
  Statements warnings{};
};

// `load`: the clients' requests a second. `disturbed`: the service that has the outage.
GraphOutlook look_ahead(const Topology& topology, std::size_t disturbed, double load);

}  // namespace retrystorm
