// retrystorm in a program of your own: a scenario by its options, many runs of it, their figures.
// tests/library/example.cc is a whole program. In its CMakeLists.txt, with retrystorm in a folder:
//
//   set(RETRYSTORM_TESTS OFF)
//   add_subdirectory(retrystorm EXCLUDE_FROM_ALL)
//   target_link_libraries(yours PRIVATE retrystorm_study)
//
// For a single run event by event, see simulator/simulation.h; for what a client or a service decides, see model/,
// which has neither clock nor thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "model/base/text.h"
#include "study/cell_result.h"
#include "study/evaluator.h"
#include "study/named_options.h"

namespace retrystorm {

// What `simulate --runs=RUNS --seed=FIRST_SEED` finds out. The options have the names and values of its command line:
// {{"rate", "100"}, {"strategy", "exponential"}}. Time is virtual: the same options and seeds give the same result, on
// any machine and any number of threads (0: one for each core). Returns when all runs are over; may be called from
// several threads. Throws std::invalid_argument, in one line, if an option is unknown or refused or no run could have a
// verdict, and std::runtime_error if a thread cannot be started.
inline CellResult run_scenario(const NamedOptions& options, std::size_t runs = 20,
                               std::uint64_t first_seed = 1, std::size_t threads = 0) {
  if (runs == 0) refuse("runs: at least one");
  // Whether there is memory for the runs is up to the program.
  const Scenario scenario = checked_scenario(scenario_of(options), first_seed, 0, 0, true);
  return summarize(
      Evaluator(threads_or_cores(threads)).run(scenario, seeds_from(first_seed, runs)));
}

// The figure with this name: that of a column of `simulate --csv` (docs/output.md), with its unit and range: shares are
// 0 to 1, times seconds. Null where the runs have none. Throws std::invalid_argument if there is no such figure.
inline nlohmann::ordered_json figure(const CellResult& result, std::string_view name) {
  for (const CellColumn& column : cell_columns()) {
    if (column.name == name) return column.value(result);
  }
  refuse("no figure '" + std::string(name) + "': docs/output.md has their names");
}

}  // namespace retrystorm
