// The simulator's command line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/cli/options.h"
#include "common/cli/program.h"
#include "simulator/scenario_options.h"
#include "study/study.h"

namespace retrystorm {

struct SimulatorOptions : StudyOptions {
  SimulatorOptions() { runs = 1; }

  std::vector<std::string> sweeps;
  std::string least, most;  // the option of which that value is looked for
  bool list_cells = false;
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

}  // namespace retrystorm
