// Many runs: the cells of a sweep, shared among threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>

#include "simulator/cell_table.h"
#include "simulator/scenario.h"
#include "simulator/sweep.h"

namespace retrystorm {

struct CampaignOptions {
  std::size_t runs = 1;  // of each cell
  std::size_t threads = 1;
  std::uint64_t seed = 0;  // of each cell's first run; the others count up from it
};

// Runs every cell; the rows are the same with any number of threads. `scenario` makes the scenario
// of a cell, and is called from several threads. Ends early when `stop` returns true (also asked
// from several threads). With `progress` a bar is drawn there.
// Returns whether all cells were finished. Throws what `scenario` throws, and std::system_error
// when a thread cannot be started; the runs that go on then are finished first.
bool run_campaign(const Grid& grid, const CampaignOptions& options,
                  const std::function<Scenario(std::size_t cell)>& scenario, CellTable& table,
                  const std::function<bool()>& stop, std::ostream* progress);

}  // namespace retrystorm
