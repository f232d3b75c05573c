#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>

#include "model/base/text.h"
#include "model/run/recovery.h"
#include "simulate/program.h"
#include "study/judged_runs.h"
#include "study/sweep.h"

namespace retrystorm {

void add_simulator_options(CLI::App& app, SimulatorOptions& options) {
  OptionList list;
  declare_options(list, options);
  add_options(app, list);
  add_strategy_flags(app, options.workload);

  auto* many = option_group(app, "Many runs");
  add_runs(*many, options.runs)->group("Run");
  add_threads(*many, options.threads);
  add_repeated(*many, "--sweep", "TEXT", options.sweeps,
               "NAME=V1,V2,... or NAME=FROM:TO:STEP: a cell for each value; repeated: a cell for "
               "each combination; strategies are names, all (every named one), and settings files "
               "such as mine.ini")
      ->group("Run");
  add_expectations(
      *many, options.expectations, known_figures(),
      "a claim, such as recovered or down<5%; may be repeated; a claim about a share or "
      "a mean takes as many runs as it needs, up to --runs (1000 if not given); exit "
      "code 3: one is broken, 4: one is not decided")
      ->group("Run");
  add_text(*many, "--least", options.least,
           "the least value of NAME or NAME=FROM:TO at which --expect (down<5%) holds");
  add_text(*many, "--most", options.most,
           "the greatest value of NAME or NAME=FROM:TO at which --expect (down<5%) holds");
  add_cell(*many, options.cell);
  many->add_flag("--wide", options.look.verbose, "the same as --verbose")->group("");
  add_table_files(*many, options.table.csv, options.table.markdown);
  add_format(*many);

  auto* report = option_group(app, "Report");
  add_duration(*report, "--report-interval", options.report_interval,
               "how long each report line covers, in virtual time", std::chrono::milliseconds(1));
  add_duration(*report, "--server-report-interval", options.server_report_interval,
               "how long each of the server's report lines covers, in virtual time",
               std::chrono::milliseconds(1));
  add_look(*report, options.look);
  add_explain_run(*report, options.look);
  add_quiet(*report, options.quiet, "what is printed before the run");
  report->add_flag("--no-trials", options.no_trials,
                   "do not try what could turn the answer of many runs");
  report->add_flag(
      "--print-processes", options.print_processes,
      "--chain, --topology: print the command lines of the real programs as JSON, and run nothing");
  report->add_flag("--server-lines", options.server_lines, "print the server's report lines too");
  add_text(*report, "--json", options.json, "write JSON Lines to this file; - = standard output")
      ->group("Run");
  add_trace(*report, options.trace);
  add_text(*report, "--server-json", options.server_json,
           "write the server's JSON Lines to this file; - = standard output");
}

std::size_t most_runs_of(const Invocation& invocation, const SimulatorOptions& options) {
  constexpr std::size_t kForFigures = 1000;
  const auto& claims = options.expectations;
  const bool of_figures =
      std::ranges::any_of(claims, [](const Expectation& each) { return !each.verdict; });
  const bool given = find_option(invocation.app, "runs")->count() > 0;
  return of_figures && !given ? kForFigures : options.runs;
}

namespace {

void check_sweep(const Invocation& invocation, const SimulatorOptions& options) {
  const ListedScenario any;
  NamedOptions given = given_options(invocation.app, any.list);
  for (const Option& each : any.list.all()) {  // one of two forms, which are told elsewhere
    if (!each.same_as.empty() && given.contains(each.same_as)) given.erase(each.name);
  }
  std::vector<Axis> axes;
  for (const std::string& sweep : options.sweeps) axes.push_back(parse_axis(sweep));
  const Grid grid = make_grid(std::move(axes));
  refuse_other_forms(grid, invocation);
  check_values(given, grid);
  // All cells of a larger grid would take longer than its runs.
  constexpr double kMost = 1000;
  if (grid.size() > kMost || (options.cell.number > 0 && !options.cell.is_part())) return;
  std::vector<std::string> named = grid.names();
  const auto typed = typed_options<ScenarioOptions>(invocation.app, invocation.arguments);
  named.insert(named.end(), typed.begin(), typed.end());
  refuse_unused(
      static_cast<std::size_t>(grid.size()),
      [&](std::size_t cell) { return cell_options(given, grid, grid.values(cell)); }, named);
}

void check_files(const SimulatorOptions& options, bool many) {
  const bool of_server = options.server_lines || !options.server_json.empty();
  const bool tables = !options.table.csv.empty() || !options.table.markdown.empty();
  if (!(options.least + options.most).empty()) {
    if (of_server || tables || options.trace > 0) {
      refuse(std::string(options.least.empty() ? "--most" : "--least") +
             " writes lines and --json only");
    }
    return;
  }
  if (many && of_server) refuse("--server-lines and --server-json report one run, not many");
  if (many && options.trace > 0) refuse("--trace records one run, not many");
  if (!many && tables) {
    refuse(std::string(options.table.csv.empty() ? "--markdown" : "--csv") +
           " is a table of many runs: it needs --runs or --sweep");
  }
}

}  // namespace

void check_command_line(const Invocation& invocation, const SimulatorOptions& options) {
  check(options, typed_options<ScenarioOptions>(invocation.app, invocation.arguments));
  const bool many = most_runs_of(invocation, options) > 1 || !options.sweeps.empty();
  check_files(options, many);
  if (!options.sweeps.empty()) check_sweep(invocation, options);
}

void check(const SimulatorOptions& options, const std::vector<std::string>& typed) {
  check_trace(options.trace, options.json);
  if (const std::string both = options.least + options.most; !both.empty()) {
    const std::string name = options.least.empty() ? "--most" : "--least";
    if (options.expectations.empty() && options.workload.arrivals == Arrivals::kJob) {
      refuse(name + " of a job needs an --expect");
    }
    if (!options.least.empty() && !options.most.empty()) {
      refuse("--least and --most exclude each other");
    }
    if (!options.sweeps.empty()) refuse(name + " excludes --sweep");
  }
  if (options.cell.number > 0 && options.sweeps.empty()) refuse("--cell needs a --sweep");
  options.cell.check_seed(options.workload.seed.has_value());
  if (options.print_processes && !options.graph.on()) {
    refuse("--print-processes needs --chain or --topology");
  }
  if (options.sweeps.empty()) {
    check(options.workload);
    check(options.service);
    check(options.graph, options.workload, options.service, options.hosts,
          options.outage_length() > Duration::zero() ? std::optional(options.timeline.outage)
                                                     : std::nullopt);
    // What hangs on the value of a search has an effect with some of its values.
    if ((options.least + options.most).empty()) refuse(unused_options(options, typed));
  }
}

}  // namespace retrystorm
