// Scenarios that this machine, or a table, can do nothing with.
#pragma once

#include <cstddef>

#include "simulator/scenario.h"

namespace retrystorm {

// Throw std::runtime_error with a sentence for a person:
// where so many runs at once need more memory than there is, in bytes;
void check_memory(const Scenario& scenario, std::size_t at_once, double there);
// where the run is longer than any memory has buckets for;
void check_length(const Scenario& scenario);
// where there can be no verdict: a table of such runs would say that none collapses.
void check_verdict(const Scenario& scenario);

}  // namespace retrystorm
