// Checks for scenarios that are too large for this machine or useless in a table.
#pragma once

#include <cstddef>

#include "simulator/scenario_options.h"

namespace retrystorm {

// All throw with a readable message.
// Throws std::runtime_error if `at_once` runs at a time need more than `there` bytes of memory.
void check_memory(const Scenario& scenario, std::size_t at_once, double there);
// Throws std::invalid_argument if the run is longer than 100,000 hours.
void check_length(const Scenario& scenario);
// Throws std::invalid_argument if the runs cannot have a verdict. Otherwise their table would look as if
// none collapsed.
void check_verdict(const Scenario& scenario);

// The scenario with these options, checked as above. `with_verdict`: its runs must have one.
Scenario checked_scenario(const ScenarioOptions& options, std::uint64_t seed, std::size_t at_once,
                          double there, bool with_verdict);

}  // namespace retrystorm
