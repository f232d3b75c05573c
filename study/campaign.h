// Runs the cells of a sweep with the evaluator and writes their table and lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>

#include "simulator/scenario.h"
#include "study/cell_result.h"
#include "study/cell_table.h"
#include "study/sweep.h"

namespace retrystorm {

struct CampaignOptions {
  std::size_t runs = 1;  // of each cell
  std::size_t threads = 1;
  std::uint64_t seed = 0;  // of each cell's first run; each further run has the next seed
};

// Runs every cell. The rows do not depend on the number of threads. `scenario` makes the scenario
// of a cell. Ends early if `stop` returns true. Both are called from several threads. Draws a
// progress bar to `progress` if it is not null. `finished` gets the result of each cell, not in their order. Returns
// true if all cells were finished. Throws what `scenario` and `run_on_threads` throw.
bool run_campaign(
    const Grid& grid, const CampaignOptions& options,
    const std::function<Scenario(std::size_t cell)>& scenario, CellTable& table,
    const std::function<bool()>& stop, std::ostream* progress,
    const std::function<void(std::size_t cell, const CellResult&)>& finished = nullptr);

}  // namespace retrystorm
