// The option --hidden-capacity: how far the load must fall before a service that stays down comes back.
#pragma once

#include <cstdint>

#include "common/cli/program.h"
#include "simulate/options.h"

namespace retrystorm {

// Searches, prints what it finds, and returns the exit code. Throws std::invalid_argument and std::runtime_error
// with a readable message if it cannot start.
int find_hidden(const Invocation& invocation, const SimulatorOptions& options, std::uint64_t seed);

}  // namespace retrystorm
