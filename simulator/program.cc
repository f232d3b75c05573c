#include "simulator/program.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/os/process.h"
#include "common/output/json_lines.h"
#include "common/output/json_report.h"
#include "common/output/line_report.h"
#include "common/output/output_queue.h"
#include "common/output/report.h"
#include "simulator/campaign.h"
#include "simulator/cells.h"
#include "simulator/hidden_capacity.h"
#include "simulator/limits.h"
#include "simulator/simulation.h"
#include "simulator/sweep.h"

namespace retrystorm {
namespace {

// While it lives, the standard streams are its, and a signal to end, or that nobody reads the
// output any more, is wanted to end the work.
class Interrupt {
 public:
  Interrupt()
      : streams_(signals_, OutputQueue::WhenFull::kWait),
        thread_([this](const std::stop_token& done) { watch(done); }) {}

  bool wanted() const { return wanted_; }

  // Does anybody still read the output?
  bool heard() const { return !streams_.closed(); }

  // The work is done. Returns the exit code, as far as it depends on standard output.
  int finish() { return streams_.finish(); }

 private:
  void watch(const std::stop_token& done) {
    const std::stop_callback no_more(done, [this] { signals_.cancel(); });
    if (!signals_.wait()) return;
    wanted_ = true;
    streams_.out().stop_waiting();
  }

  EndSignals signals_;
  StandardStreams streams_;
  std::atomic<bool> wanted_{false};
  std::jthread thread_;
};

// A seed that was drawn is told, so that the run can be repeated.
void tell_seed(const SimulatorOptions& options, std::uint64_t seed) {
  if (!options.workload.seed) std::cerr << "seed " << seed << '\n';
}

int run_once(const Invocation& invocation, const SimulatorOptions& options, std::uint64_t seed) {
  for (const auto& [name, path] :
       {std::pair("--csv", options.table.csv), std::pair("--markdown", options.table.markdown)}) {
    if (path.empty()) continue;
    throw std::runtime_error(std::string(name) +
                             " is a table of many runs: it needs --runs or --sweep");
  }
  const Scenario scenario = make_scenario(options, seed);
  check_length(scenario);
  check_memory(scenario, 1, physical_memory());
  auto start = options_json(invocation.app);
  start["seed"] = seed;
  JsonLines json(options.json);
  JsonLines server_json(options.server_json);
  json.write(start_json("simulate", invocation.command, start));
  server_json.write(start_json("simulate", invocation.command, start));
  tell_seed(options, seed);
  Interrupt interrupt;
  LineReport lines(std::cout);
  JsonReport json_report(json.sink());
  ServiceLineReport service_lines(std::cout, ServiceLineReport::Stamp::kVirtual);
  ServiceJsonReport service_json(server_json.sink());
  SimulationObservers observers{.run = {&lines, &json_report}};
  if (options.server_lines) observers.service.push_back(&service_lines);
  if (!options.server_json.empty()) observers.service.push_back(&service_json);
  Simulation simulation(scenario, observers);
  simulation.run([&interrupt] { return interrupt.wanted(); });
  const int code = interrupt.finish();
  return json.failed() || server_json.failed() ? 1 : code;
}

// That share the runs: as many as there are cores if nothing else is said.
std::size_t threads_of(const SimulatorOptions& options) {
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  return options.threads > 0 ? options.threads : cores;
}

Grid grid_of(const CLI::App& app, const std::vector<std::string>& sweeps) {
  std::vector<Axis> axes;
  for (const std::string& sweep : sweeps) {
    axes.push_back(parse_axis(app, sweep));
    const CLI::Option* option = find_option(app, axes.back().name);
    for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
      if (find_option(app, axes[i].name) == option) {
        throw std::runtime_error("--sweep " + axes[i].name +
                                 " is given twice: give all its values at once");
      }
    }
  }
  return Grid(std::move(axes));
}

void list_cells(const Grid& grid) {
  const auto print = [](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) std::cout << (i > 0 ? "," : "") << row[i];
    std::cout << '\n';
  };
  std::vector<std::string> names;
  for (const Axis& axis : grid.axes()) names.push_back(underscored(axis.name));
  print(names);
  const auto cells = static_cast<std::size_t>(grid.size());
  for (std::size_t cell = 0; cell < cells; ++cell) print(grid.values(cell));
}

int run_many(const Invocation& invocation, const SimulatorOptions& options, std::uint64_t seed) {
  std::vector<std::string> arguments = invocation.arguments;
  if (options.server_lines || !options.server_json.empty()) {
    throw std::runtime_error("--server-lines and --server-json tell of one run, not of many");
  }
  if (options.trace > 0) throw std::runtime_error("--trace tells of one run, not of many");
  Grid grid = grid_of(invocation.app, options.sweeps);
  for (const Axis& axis : grid.axes()) {
    // The flag would count more than the strategies of the sweep.
    if (axis.name != "strategy") continue;
    std::erase_if(arguments,
                  [](const auto& each) { return each.starts_with("--exponential-backoff"); });
  }
  constexpr double kMostRuns = 1e7;
  const double total = grid.size() * static_cast<double>(options.runs);
  if (total > kMostRuns) {
    throw std::runtime_error("this is a grid of " + std::to_string(std::llround(total)) +
                             " runs, more than ten million: choose fewer values or --runs");
  }
  if (static_cast<double>(options.cell) > grid.size()) {
    throw std::runtime_error("--cell: the sweep has " + std::to_string(std::llround(grid.size())) +
                             " cells");
  }
  const bool alone = options.cell > 0;
  if (alone) grid = grid.only(options.cell - 1);
  check_values(arguments, grid);

  const CampaignOptions campaign{
      .runs = options.runs, .threads = threads_of(options), .seed = seed};
  const auto options_of = [&](std::size_t cell) {
    return parse_with(arguments, grid, grid.values(cell));
  };
  const auto scenario = [&](std::size_t cell) {
    const Scenario one = make_scenario(options_of(cell), seed);
    check_length(one);
    check_verdict(one);
    check_memory(one, std::min(campaign.threads, static_cast<std::size_t>(total)),
                 physical_memory());
    return one;
  };
  // Before anything runs; of a large grid only the ends, for it would take longer than its runs.
  const auto cells = static_cast<std::size_t>(grid.size());
  const std::size_t tried = std::min<std::size_t>(cells, 1000);
  for (std::size_t cell = 0; cell < tried; ++cell) scenario(cell);
  scenario(cells - 1);
  // What has no effect in one cell may have one in another: only what has none in any is refused.
  if (tried == cells && !alone) {
    UnusedOptions unused = unused_options(options_of(0));
    for (std::size_t cell = 1; cell < cells && !unused.empty(); ++cell) {
      const UnusedOptions too = unused_options(options_of(cell));
      std::erase_if(unused, [&too](const auto& each) { return !too.contains(each.first); });
    }
    refuse(unused);
  }
  if (options.list_cells) {
    list_cells(grid);
    return 0;
  }
  auto start = options_json(invocation.app);
  start["seed"] = seed;
  JsonLines json(options.json);
  CellTable table(grid, std::cout, json, options.table);
  json.write(start_json("simulate", invocation.command, start));
  tell_seed(options, seed);
  Interrupt interrupt;
  const bool complete = run_campaign(
      grid, campaign, scenario, table, [&interrupt] { return interrupt.wanted(); },
      isatty(STDERR_FILENO) == 1 ? &std::cerr : nullptr);
  if (!complete && interrupt.heard())
    std::cerr << "interrupted: the cells above are those that were finished\n";
  const int code = interrupt.finish();
  return code != 0 ? code : complete && !json.failed() ? 0 : 1;
}

void print(const HiddenCapacity& found) {
  const auto percent = [](double share) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << 100 * share;
    return text.str();
  };
  const std::size_t seeds = found.thresholds.size();
  std::cout << "stays down with all its load: " << found.stay_down << " of " << seeds << " runs\n";
  if (found.stay_down == 0) {
    std::cout << "nothing is hidden: the service does not stay down\n";
    return;
  }
  if (found.never > 0) {
    std::cout << "does not come back at " << percent(kReliefStep)
              << " % of it either: " << found.never << " of these runs\n";
  }
  const auto& [share, interval] = found.share;
  if (share == 0) {
    std::cout << "no cut of the load gets it back within the time\n";
    return;
  }
  std::cout << "comes back at: " << percent(share) << " % of its load or less (median";
  if (interval) {
    std::cout << ", 95 % interval " << percent(interval->low) << " to " << percent(interval->high)
              << " %";
  }
  std::cout << ")\nhidden capacity: " << std::fixed << std::setprecision(1)
            << share * found.baseline_ok << " requests/s, where " << found.baseline_ok
            << " were served before the outage\n";
}

nlohmann::ordered_json to_json(const HiddenCapacity& found) {
  const bool any = found.stay_down > 0;
  const auto end = [&](double Interval::*side) {
    const auto& interval = found.share.interval;
    return any && interval ? share_json(*interval.*side) : nlohmann::ordered_json(nullptr);
  };
  return {{"type", "hidden_capacity"},
          {"runs", found.thresholds.size()},
          {"stay_down", found.stay_down},
          {"never_back", found.never},
          {"share", any ? share_json(found.share.value) : nlohmann::ordered_json(nullptr)},
          {"share_low", end(&Interval::low)},
          {"share_high", end(&Interval::high)},
          {"baseline_ok", rounded(found.baseline_ok)}};
}

int find_hidden(const Invocation& invocation, const SimulatorOptions& options, std::uint64_t seed) {
  if (options.server_lines || !options.server_json.empty() || !options.table.csv.empty() ||
      !options.table.markdown.empty() || options.trace > 0) {
    throw std::runtime_error("--hidden-capacity writes lines and --json only");
  }
  constexpr std::size_t kSeeds = 20;
  const std::size_t seeds = options.runs > 1 ? options.runs : kSeeds;
  const Scenario scenario = relieved(options, options.relief, 1, seed);
  check_length(scenario);
  check_verdict(scenario);
  const std::size_t threads = threads_of(options);
  check_memory(scenario, std::min(threads, seeds), physical_memory());
  auto start = options_json(invocation.app);
  start["seed"] = seed;
  JsonLines json(options.json);
  json.write(start_json("simulate", invocation.command, start));
  tell_seed(options, seed);
  Interrupt interrupt;
  const auto found = find_hidden_capacity(options, options.relief, seeds, seed, threads,
                                          [&interrupt] { return interrupt.wanted(); });
  if (found) {
    for (const Threshold& each : found->thresholds) {
      json.write({{"type", "threshold"},
                  {"seed", each.seed},
                  {"stays_down", each.stays_down},
                  {"share", share_json(each.share)}});
    }
    json.write(to_json(*found));
    print(*found);
  } else if (interrupt.heard()) {
    std::cerr << "interrupted\n";
  }
  const int code = interrupt.finish();
  return code != 0 ? code : found && !json.failed() ? 0 : 1;
}

}  // namespace

int simulate(const Invocation& invocation, const SimulatorOptions& options) {
  occupy_standard_descriptors();
  const std::uint64_t seed =
      options.workload.seed ? *options.workload.seed : std::random_device()();
  const bool many = options.runs > 1 || !options.sweeps.empty();
  if ((options.list_cells || options.cell > 0) && options.sweeps.empty()) {
    throw std::runtime_error("--list-cells and --cell are about the cells of a --sweep");
  }
  if (options.hidden_capacity) return find_hidden(invocation, options, seed);
  return many ? run_many(invocation, options, seed) : run_once(invocation, options, seed);
}

}  // namespace retrystorm
