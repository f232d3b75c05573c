// ./simulate: the experiment in virtual time, once or many times.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <iostream>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "common/os/process.h"
#include "common/output/json_lines.h"
#include "common/output/line_report.h"
#include "common/output/output_queue.h"
#include "common/output/report.h"
#include "simulator/campaign.h"
#include "simulator/options.h"
#include "simulator/simulation.h"
#include "simulator/sweep.h"

namespace retrystorm {
namespace {

// The command line again with other values for some options: the last one counts.
SimulatorOptions parse_with(const std::vector<std::string>& arguments, const Grid& grid,
                            const std::vector<std::string>& values) {
  CLI::App app;
  SimulatorOptions options;
  set_up_app(app);
  add_simulator_options(app, options);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  std::vector<std::string> swept;
  for (std::size_t i = 0; i < values.size(); ++i) {
    swept.push_back("--" + grid.axes()[i].name + "=" + values[i]);
  }
  reversed.insert(reversed.begin(), swept.rbegin(), swept.rend());
  app.parse(std::move(reversed));  // CLI11 wants it from the end
  apply_in_order(app);
  return options;
}

// Tries the values of each axis before anything runs.
void check_values(const std::vector<std::string>& arguments, const Grid& grid) {
  for (const Axis& axis : grid.axes()) {
    std::vector<std::string> values = axis.values;
    // The second one tells whether the step is good.
    if (axis.range && values.size() > 3) values = {values[0], values[1], values.back()};
    for (const std::string& value : values) {
      const Grid single({{axis.name, {value}}});
      try {
        parse_with(arguments, single, {value});
      } catch (const CLI::ParseError& error) {
        throw std::runtime_error(std::string("--sweep ") + axis.name + ": " + error.what());
      }
    }
  }
}

void check_memory(const Scenario& scenario, std::size_t at_once) {
  const double there =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const double needed = memory_needed(scenario) * static_cast<double>(at_once);
  if (needed <= 0.9 * there) return;
  const auto gigabytes = [](double bytes) { return std::to_string(std::llround(bytes / 1e9)); };
  throw std::runtime_error("this needs some " + gigabytes(needed) +
                           " GB of memory, and there are " + gigabytes(there) +
                           ": choose a smaller --scale or fewer --threads");
}

// The years that a duration can hold are more than any memory has buckets for.
void check_length(const Scenario& scenario) {
  constexpr Duration kLongest = std::chrono::hours(100'000);
  if (scenario.length <= kLongest) return;
  throw std::runtime_error("the run is too long: at most " + format_duration(kLongest) +
                           " from its start to the end of --observe");
}

// A table of runs without a verdict would say that none collapses.
void check_verdict(const Scenario& scenario) {
  if (!scenario.outage_at) return;
  constexpr Duration kBefore = RecoveryTracker::kWindow,
                     kAfter = RecoveryTracker::kConsecutiveWindows * kBefore;
  const Duration after = scenario.length - *scenario.outage_at - scenario.outage_for;
  if (*scenario.outage_at >= kBefore && after >= kAfter) return;
  throw std::runtime_error("many runs are told by their verdicts, which need an --outage-at of " +
                           format_duration(kBefore) + " and an --observe of " +
                           format_duration(kAfter) + " at least");
}

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

int run_once(CLI::App& app, const SimulatorOptions& options, std::uint64_t seed,
             const std::string& command) {
  if (!options.csv.empty()) {
    throw std::runtime_error("--csv is a table of many runs: it needs --runs or --sweep");
  }
  const Scenario scenario = make_scenario(options, seed);
  check_length(scenario);
  check_memory(scenario, 1);
  auto start = options_json(app);
  start["seed"] = seed;
  JsonLines json(options.json);
  JsonLines server_json(options.server_json);
  json.write(start_json("simulate", command, start));
  server_json.write(start_json("simulate", command, start));
  tell_seed(options, seed);
  Interrupt interrupt;
  LineReport lines(std::cout);
  JsonReport json_report(json);
  ServiceLineReport service_lines(std::cout, ServiceLineReport::Stamp::kVirtual);
  ServiceJsonReport service_json(server_json);
  SimulationObservers observers{.run = {&lines, &json_report}};
  if (options.server_lines) observers.service.push_back(&service_lines);
  if (!options.server_json.empty()) observers.service.push_back(&service_json);
  Simulation simulation(scenario, observers);
  simulation.run([&interrupt] { return interrupt.wanted(); });
  const int code = interrupt.finish();
  return json.failed() || server_json.failed() ? 1 : code;
}

int run_many(CLI::App& app, const SimulatorOptions& options, std::uint64_t seed,
             std::vector<std::string> arguments, const std::string& command) {
  if (options.server_lines || !options.server_json.empty()) {
    throw std::runtime_error("--server-lines and --server-json tell of one run, not of many");
  }
  std::vector<Axis> axes;
  for (const std::string& sweep : options.sweeps) {
    axes.push_back(parse_axis(app, sweep));
    for (std::size_t i = 0; i + 1 < axes.size(); ++i) {
      if (axes[i].name == axes.back().name) {
        throw std::runtime_error("--sweep " + axes[i].name +
                                 " is given twice: give all its values at once");
      }
    }
    // The flag would count more than the strategies of the sweep.
    if (axes.back().name == "strategy") {
      std::erase_if(arguments,
                    [](const auto& each) { return each.starts_with("--exponential-backoff"); });
    }
  }
  const Grid grid(std::move(axes));
  constexpr double kMostRuns = 1e7;
  const double total = grid.size() * static_cast<double>(options.runs);
  if (total > kMostRuns) {
    throw std::runtime_error("this is a grid of " + std::to_string(std::llround(total)) +
                             " runs, more than ten million: choose fewer values or --runs");
  }
  check_values(arguments, grid);

  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const CampaignOptions campaign{
      .runs = options.runs, .threads = options.threads > 0 ? options.threads : cores, .seed = seed};
  const auto scenario = [&](std::size_t cell) {
    const Scenario one = make_scenario(parse_with(arguments, grid, grid.values(cell)), seed);
    check_length(one);
    check_verdict(one);
    check_memory(one, std::min(campaign.threads, static_cast<std::size_t>(total)));
    return one;
  };
  // Before anything runs; of a large grid only the ends, for it would take longer than its runs.
  const auto cells = static_cast<std::size_t>(grid.size());
  for (std::size_t cell = 0; cell < std::min<std::size_t>(cells, 1000); ++cell) scenario(cell);
  scenario(cells - 1);
  auto start = options_json(app);
  start["seed"] = seed;
  JsonLines json(options.json);
  CellTable table(grid, std::cout, json, options.csv);
  json.write(start_json("simulate", command, start));
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

}  // namespace
}  // namespace retrystorm

int main(int argc, char** argv) {
  using namespace retrystorm;
  CLI::App app("The experiment in virtual time: the clients, the kernel's queue, the server.");
  SimulatorOptions options;
  set_up_app(app);
  add_simulator_options(app, options);
  if (const auto code = parse(app, argc, argv)) return *code;
  occupy_standard_descriptors();
  try {
    const std::uint64_t seed =
        options.workload.seed ? *options.workload.seed : std::random_device()();
    const std::string command = command_line(argc, argv);
    if (options.runs > 1 || !options.sweeps.empty()) {
      return run_many(app, options, seed, arguments(argc, argv), command);
    }
    return run_once(app, options, seed, command);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
