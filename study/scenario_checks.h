// Checks for scenarios that are too large for this machine or useless in a table.
#pragma once

#include <cstddef>

#include "simulator/scenario.h"

namespace retrystorm {

// All throw with a readable message.
// Throws std::runtime_error if `at_once` runs at a time need more than `there` bytes of memory.
void check_memory(const Scenario& scenario, std::size_t at_once, double there);
// Throws std::invalid_argument if the run is longer than 100,000 hours.
void check_length(const Scenario& scenario);
// Throws std::invalid_argument if the runs cannot have a verdict. Otherwise their table would look as if
// none collapsed.
void check_verdict(const Scenario& scenario);

}  // namespace retrystorm
