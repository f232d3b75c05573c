// The program `client`: the load generator.
#pragma once

#include "client/options.h"
#include "common/cli/program.h"

namespace retrystorm {

// Runs the experiment, or prints a schedule. The options must have been checked. Returns the exit
// code. Throws std::runtime_error with a readable message if the run cannot start.
int run_clients(const Invocation& invocation, const ClientOptions& asked);

}  // namespace retrystorm
