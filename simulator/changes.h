// The changes that the outage and the timeline of a run lead to, in order.
#pragma once

#include <vector>

#include "simulator/scenario.h"
#include "simulator/scenario_options.h"

namespace retrystorm {

// Ordered by time. At the same time, the beginning and the end of the outage come first. The
// services have their configured size and are not scaled yet. Throws std::invalid_argument with a
// readable message if an action does not fit this service, as NoEffect if it does nothing to it.
std::vector<Change> changes(const ScenarioOptions& options);

}  // namespace retrystorm
