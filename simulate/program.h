// Runs the simulator with its parsed options.
#pragma once

#include "common/cli/program.h"
#include "simulate/options.h"

namespace retrystorm {

// Makes one run, or the table of many. Returns the exit code. Throws std::runtime_error with a
// readable message if it cannot start.
int simulate(const Invocation& invocation, const SimulatorOptions& options);

// The program: parses its options, from argument number `first` on, and runs it. Returns the exit code.
int run_simulate(int argc, const char* const* argv, int first = 1);

}  // namespace retrystorm
