// What is printed before the runs: the seed, and what can be said by arithmetic.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/cli/program.h"
#include "simulate/options.h"
#include "study/sweep.h"

namespace retrystorm {

// Prints a random seed, so that the run can be repeated.
void tell_seed(const SimulatorOptions& options, std::uint64_t seed);

// The options whose values differ from those of `asked`: what is swept, and what a swept strategy
// brings.
void add_different(std::vector<std::string>& names, ScenarioOptions asked, ScenarioOptions run);

// Prints the outlook of a run with these options, and adds it to the first line. Returns what was assumed
// (see `assumed_list`).
std::string tell_outlook(const Invocation& invocation, const SimulatorOptions& asked,
                         const ScenarioOptions& run, nlohmann::ordered_json& start,
                         const std::vector<std::string>& swept = {});

// "strategy=fixed, timeout=2s"
std::string row_name(const Grid& grid, std::size_t cell);

// The same for the rows of a table. Of many rows, that of the first and the last.
std::string tell_outlooks(const Invocation& invocation, const SimulatorOptions& asked,
                          const nlohmann::ordered_json& start, const Grid& grid,
                          const std::function<ScenarioOptions(std::size_t cell)>& options_of);

}  // namespace retrystorm
