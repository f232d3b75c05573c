// Runs the simulator with its parsed options.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/cli/program.h"
#include "simulate/options.h"

namespace retrystorm {

// Makes one run, or the table of many. Returns the exit code. Throws std::runtime_error with a
// readable message if it cannot start.
int simulate(const Invocation& invocation, const SimulatorOptions& options);

// The program: parses its options, from argument number `first` on, and runs it. Returns the exit code.
int run_simulate(int argc, const char* const* argv, int first = 1);

// Adds the options whose values differ from those of `asked`: what is swept, what a swept strategy brings, and what
// kinds of clients set.
void add_set(std::vector<std::string>& names, const ScenarioOptions& asked,
             const ScenarioOptions& run);

// Searches for --least or --most, prints what it tries and finds, and returns the exit code. Throws as `simulate` does.
int find_value(const Invocation& invocation, const SimulatorOptions& options);

// For services behind services: the arguments of one `server` for each service, in an order in which each comes after
// those that it calls, and those of a `client` for each kind of clients. Where a URL belongs stands the service's name
// between two @. What the programs choose themselves (ports, files, times) is left out. Throws std::invalid_argument
// with a readable message if the real programs cannot do it.
nlohmann::ordered_json processes_json(const SimulatorOptions& options);

}  // namespace retrystorm
