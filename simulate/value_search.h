// The option --least or --most: finds the limit of a value up to which claims hold.
#pragma once

#include <cstdint>
#include <vector>

#include "common/cli/program.h"
#include "common/output/expectation.h"
#include "simulate/options.h"

namespace retrystorm {

// Searches, prints what it tries and finds, and returns the exit code. Throws std::invalid_argument and
// std::runtime_error with a readable message if it cannot start.
int find_value(const Invocation& invocation, const SimulatorOptions& options, std::uint64_t seed);

// The claims that were found to hold.
std::vector<Expectation> holding(const std::vector<Expectation>& claims,
                                 const std::vector<Judgement>& judgements);

}  // namespace retrystorm
