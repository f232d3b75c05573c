// Runs the simulator with its parsed options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/cli/options.h"
#include "common/cli/program.h"
#include "common/output/expectation.h"
#include "common/output/json_text.h"
#include "simulator/scenario_options.h"
#include "study/cell_result.h"
#include "study/named_options.h"
#include "study/study.h"
#include "study/sweep.h"

namespace retrystorm {

struct SimulatorOptions : StudyOptions {
  SimulatorOptions() { runs = 1; }

  std::vector<std::string> sweeps;
  std::string least, most;  // the option of which that value is looked for
  bool print_processes = false;
  bool server_lines = false;
  bool no_trials = false;
  std::string server_json;
};

void add_simulator_options(CLI::App& app, SimulatorOptions& options);

// How many runs a cell has at most. Claims about figures need many; a verdict can be that of one run.
std::size_t most_runs_of(const Invocation& invocation, const SimulatorOptions& options);

// Throws std::invalid_argument with all that contradicts each other or has no effect, also in the cells of a sweep.
void check_command_line(const Invocation& invocation, const SimulatorOptions& options);
// The same; of a sweep's cells nothing. `typed` options are refused without an effect even where they have their
// default value.
void check(const SimulatorOptions& options, const std::vector<std::string>& typed = {});

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

// Of the given options that are not in the short help, nor implied by others, those without which the run of `seed` is
// the same, event by event. Tries for a second at most. With files that may be pipes it finds nothing.
std::vector<std::string> without_effect(const NamedOptions& given, std::uint64_t seed,
                                        const std::function<bool(const std::string&)>& is_asked);

// For services behind services: the arguments of one `server` for each service, in an order in which each comes after
// those that it calls, and those of a `client` for each kind of clients. Where a URL belongs stands the service's name
// between two @. What the programs choose themselves (ports, files, times) is left out. Throws std::invalid_argument
// with a readable message if the real programs cannot do it.
Json processes_json(const SimulatorOptions& options);

struct AnsweredCell {
  CellResult result{};
  std::vector<Expectation> holding{};  // the claims that hold
};

// Prints to standard output, and what was tried as lines of the study's JSON, too. Of a grid's only row the answer, at
// once; then what could turn it, and what helps, as it comes. Of several rows the table, what is to be seen in it, and
// what could turn its rows. `complete`: else it was stopped.
void tell_answers(const SimulatorOptions& options, const NamedOptions& given, const Grid& grid,
                  Study& study, const std::map<std::size_t, AnsweredCell>& cells, bool complete);

}  // namespace retrystorm
