// The simulator from its options to its end.
#pragma once

#include "common/cli/program.h"
#include "simulator/options.h"

namespace retrystorm {

// One run, or the table of many. Returns the exit code; throws std::runtime_error with a sentence
// for a person when it cannot start.
int simulate(const Invocation& invocation, const SimulatorOptions& options);

}  // namespace retrystorm
