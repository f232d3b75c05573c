#include "simulator/campaign.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "simulator/simulation.h"
#include "simulator/threads.h"

namespace retrystorm {
namespace {

// What is common to all threads of a campaign.
struct Work {
  std::mutex mutex;
  std::size_t next_task = 0;
  std::size_t done = 0;
  std::map<std::size_t, std::pair<std::vector<RunResult>, std::size_t>> cells;  // results, missing
};

std::string progress_bar(std::size_t done, std::size_t total, Duration elapsed) {
  constexpr std::size_t kWidth = 40;
  const double share = static_cast<double>(done) / static_cast<double>(total);
  const auto full = static_cast<std::size_t>(share * kWidth);
  const Duration left = scale(elapsed, done == 0 ? 0 : (1 - share) / share);
  return "\r[" + std::string(full, '#') + std::string(kWidth - full, '.') + "] " +
         std::to_string(done) + "/" + std::to_string(total) + " runs, " +
         format_duration(std::chrono::round<std::chrono::seconds>(left)) + " left  ";
}

}  // namespace

bool run_campaign(const Grid& grid, const CampaignOptions& options,
                  const std::function<Scenario(std::size_t cell)>& scenario, CellTable& table,
                  const std::function<bool()>& stop, std::ostream* progress) {
  const std::size_t total = static_cast<std::size_t>(grid.size()) * options.runs;
  const TimePoint start = Clock::now();
  TimePoint drawn = start;
  Work work;

  const auto worker = [&] {
    // Of the cell at hand: to read the options again for each run would take as long as a short
    // one.
    std::size_t made_for = total;
    Scenario one;
    std::unique_lock lock(work.mutex);
    while (work.next_task < total && !stop()) {
      const std::size_t task = work.next_task++;
      const std::size_t cell = task / options.runs;
      const std::size_t run = task % options.runs;
      lock.unlock();
      if (std::exchange(made_for, cell) != cell) one = scenario(cell);
      one.seed = options.seed + run;
      Simulation simulation(one, {});
      const SimulationResult result = simulation.run(stop);
      lock.lock();
      if (stop()) return;  // the run may have ended early

      auto& [results, missing] = work.cells[cell];
      if (results.empty()) {
        results.resize(options.runs);
        missing = options.runs;
      }
      results[run] = result_of(result);
      ++work.done;
      if (--missing == 0) {
        if (progress != nullptr) *progress << "\r\033[K" << std::flush;
        table.add(cell, summarize(results));
        work.cells.erase(cell);
      }
      const TimePoint now = Clock::now();
      if (progress != nullptr && now - drawn >= std::chrono::milliseconds(200)) {
        drawn = now;
        *progress << progress_bar(work.done, total, now - start) << std::flush;
      }
    }
  };

  try {
    run_on_threads(std::min(options.threads, total), worker, [&work, total] {
      const std::scoped_lock lock(work.mutex);
      work.next_task = total;  // before the others do all of it
    });
  } catch (...) {
    if (progress != nullptr) *progress << "\r\033[K" << std::flush;
    throw;
  }
  if (progress != nullptr) *progress << "\r\033[K" << std::flush;
  table.flush();
  return work.done == total;
}

}  // namespace retrystorm
