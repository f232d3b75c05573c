// The simulator's command line.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/cli/options.h"
#include "simulator/cell_table.h"
#include "simulator/hidden_capacity.h"
#include "simulator/scenario_options.h"

namespace retrystorm {

struct SimulatorOptions : ScenarioOptions {
  std::size_t runs = 1;
  std::size_t threads = 0;  // 0 = one a core
  std::vector<std::string> sweeps;
  bool list_cells = false;
  std::size_t cell = 0;  // the only one to run, counted from 1; 0 = all
  bool server_lines = false;
  std::string json, server_json;
  TableFiles table;
  bool hidden_capacity = false;
  ReliefOptions relief;
};

void add_simulator_options(CLI::App& app, SimulatorOptions& options);

// Throws std::invalid_argument when options contradict each other. Those of a sweep's cells are
// looked at when these are known.
void check(const SimulatorOptions& options);

}  // namespace retrystorm
