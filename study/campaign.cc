#include "study/campaign.h"

#include <vector>

#include "study/evaluator.h"
#include "study/progress_bar.h"

namespace retrystorm {

bool run_campaign(const Grid& grid, const CampaignOptions& options,
                  const std::function<Scenario(std::size_t cell)>& scenario, CellTable& table,
                  const std::function<bool()>& stop, std::ostream* progress,
                  const std::function<void(std::size_t cell, const CellResult&)>& finished) {
  const auto cells = static_cast<std::size_t>(grid.size());
  ProgressBar bar(progress, cells * options.runs);
  const bool complete = Evaluator(options.threads, stop)
                            .run(
                                cells, scenario, seeds_from(options.seed, options.runs),
                                [&](std::size_t cell, const std::vector<RunResult>& results) {
                                  bar.clear();
                                  const CellResult result = summarize(results);
                                  table.add(cell, result);
                                  if (finished) finished(cell, result);
                                },
                                [&bar](const RunResult& run) { bar.see(run); });
  bar.clear();
  table.flush();
  return complete;
}

}  // namespace retrystorm
