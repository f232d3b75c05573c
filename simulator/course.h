// What the outage of a run and the actions of its timeline come to, one after the other.
#pragma once

#include <vector>

#include "simulator/scenario.h"
#include "simulator/scenario_options.h"

namespace retrystorm {

// By time; of what comes at the same time the outage's begin first, and its end. The services are
// as large as configured: not scaled yet. Throws std::invalid_argument with a sentence for a person
// when an action is none of this service's.
std::vector<Change> changes(const ScenarioOptions& options);

}  // namespace retrystorm
