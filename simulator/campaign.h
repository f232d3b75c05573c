// Many runs: the cells of a sweep, shared among threads, told as a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "common/output/json_lines.h"
#include "simulator/simulation.h"
#include "simulator/statistics.h"
#include "simulator/sweep.h"

namespace retrystorm {

// What the table keeps of one run.
struct RunResult {
  Verdict verdict = Verdict::kNoOutage;
  std::optional<Duration> errors_gone, time_to_recovery;
  double amplification = 1;
  double ok_lost = 0;
  std::size_t peak_concurrency = 0;
};

// One row: all runs of one cell.
struct CellResult {
  std::size_t runs = 0;
  // By verdict: together all runs, where there was an outage.
  std::size_t recovered = 0, relapsed = 0, recovering = 0, undecided = 0, collapsed = 0;
  Interval collapse_interval{};  // 95 %
  // What came back does not count as gone, nor a service that died again as recovered: errors gone
  // are those of runs that are recovered or recovering, the recovery that of the recovered. In all
  // others it took longer than they were observed.
  std::optional<Duration> errors_gone_median{}, errors_gone_p90{};
  std::optional<Duration> recovery_median{}, recovery_p90{};
  double amplification = 1;  // mean
  double ok_lost = 0;        // mean
  std::size_t peak_concurrency = 0;
};

CellResult summarize(const std::vector<RunResult>& runs);

// Where the rows go, each as soon as those before it are there. Null pointers and an empty path
// write nothing.
class CellTable {
 public:
  // Throws std::runtime_error when the CSV file cannot be written.
  CellTable(const Grid& grid, std::ostream& out, JsonLines& json, const std::string& csv);

  void add(std::size_t cell, const CellResult& result);

  // Prints what is finished though a cell before it is not: for a sweep that was interrupted.
  void flush();

 private:
  void print(std::size_t cell, const CellResult& result);

  const Grid& grid_;
  std::ostream& out_;
  JsonLines& json_;
  std::string csv_path_;
  std::ofstream csv_;
  std::vector<int> widths_;
  std::size_t next_ = 0;
  std::map<std::size_t, CellResult> finished_;
};

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
