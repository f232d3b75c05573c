#include "simulate/program.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/os/process.h"
#include "common/output/answer.h"
#include "common/output/expectation.h"
#include "common/output/json_lines.h"
#include "common/output/json_report.h"
#include "common/output/line_report.h"
#include "common/output/report.h"
#include "common/output/work_output.h"
#include "model/base/text.h"
#include "model/retry/strategies.h"
#include "simulate/before_run.h"
#include "simulate/many_answers.h"
#include "simulate/processes.h"
#include "simulate/value_search.h"
#include "simulator/simulation.h"
#include "study/campaign.h"
#include "study/cells.h"
#include "study/evaluator.h"
#include "study/judged_runs.h"
#include "study/notes.h"
#include "study/progress_bar.h"
#include "study/scenario_checks.h"
#include "study/sweep.h"
#include "words/words.h"

namespace retrystorm {
namespace {

int run_once(const Invocation& invocation, const SimulatorOptions& options, std::uint64_t seed) {
  const Scenario scenario = make_scenario(options, seed);
  check_length(scenario);
  check_memory(scenario, 1, memory_limit());
  auto start = options_json(invocation.app);
  start["seed"] = seed;
  WorkOutput output(OutputFile(options.json), OutputFile(options.server_json));
  tell_before(invocation, options, options, start);
  const std::string defaults = defaults_that_matter(invocation, options);
  output.json().write(start_json("simulate", invocation.command, start));
  output.server_json().write(start_json("simulate", invocation.command, start));
  LineReport lines(std::cout);
  JsonReport json_report(output.json().sink());
  ServiceLineReport service_lines(std::cout, ServiceLineReport::Stamp::kVirtual);
  ServiceJsonReport service_json(output.server_json().sink());
  const Style style = style_of(STDOUT_FILENO, options.look.color);
  SummaryReport summary(std::cout, style);
  AnswerReport answer(std::cout, style,
                      words_of({defaults.empty() ? "below-one-run-given" : "below-one-run",
                                {{"seed", std::to_string(seed)}, {"defaults", defaults}}}),
                      false);
  SimulationObservers observers{.run = {&lines, &json_report, &answer}};
  if (options.look.verbose) observers.run.push_back(&summary);
  if (options.server_lines) observers.service.push_back(&service_lines);
  if (!options.server_json.empty()) observers.service.push_back(&service_json);
  RunNotes notes(options, [&output](const std::string& line) { output.note(line); });
  if (!options.quiet) observers.run.push_back(&notes);
  Simulation simulation(scenario, observers);
  const SimulationResult result = simulation.run([&output] { return output.interrupted(); });
  RunJudge judge(options.expectations, std::cout, output.json(), held_back(scenario));
  judge.judge(result.summary, one_run_figures(result));
  const int fault = output.finish();
  return fault != 0 ? fault : judge.exit_code();
}

void list_cells(const Grid& grid) {
  const auto print = [](const std::vector<std::string>& row) { std::cout << csv_row(row) << '\n'; };
  std::vector<std::string> names;
  for (const Axis& axis : grid.axes()) names.push_back(underscored(axis.name));
  print(names);
  const auto cells = static_cast<std::size_t>(grid.size());
  for (std::size_t cell = 0; cell < cells; ++cell) print(grid.values(cell));
}

// The outputs for the findings of a table's cells.
struct Findings {
  std::ostream& out;
  JsonLines& json;
  std::vector<Finding>& all;
};

// Runs each cell until the claims are decided, and prints the findings after the table. Returns
// false if it was stopped.
bool judge_cells(const Grid& grid, const CampaignOptions& campaign,
                 const std::function<Scenario(std::size_t cell)>& scenario, CellTable& table,
                 const std::function<bool()>& stop, const std::vector<Expectation>& expectations,
                 const Findings& findings,
                 const std::function<void(std::size_t cell, const CellResult&,
                                          const std::vector<Judgement>&)>& finished) {
  const Evaluator evaluator(campaign.threads, stop);
  std::vector<std::pair<std::size_t, std::vector<Judgement>>> judged;
  const auto cells = static_cast<std::size_t>(grid.size());
  bool complete = true;
  for (std::size_t cell = 0; cell < cells && complete; ++cell) {
    const auto runs =
        judge_runs(evaluator, scenario(cell), campaign.seed, campaign.runs, expectations);
    complete = runs.has_value();
    if (!complete) break;
    const CellResult result = summarize(runs->runs);
    table.add(cell, result);
    finished(cell, result, runs->judgements);
    judged.emplace_back(cell, runs->judgements);
  }
  table.flush();
  for (const auto& [cell, judgements] : judged) {
    const std::vector<std::string> values = grid.values(cell);
    std::vector<std::pair<std::string, std::string>> labels;
    for (std::size_t axis = 0; axis < values.size(); ++axis) {
      labels.emplace_back(underscored(grid.axes()[axis].name), values[axis]);
    }
    for (std::size_t i = 0; i < expectations.size(); ++i) {
      write_finding(findings.out, findings.json, labels, expectations[i], judgements[i]);
      findings.all.push_back(judgements[i].finding);
    }
  }
  return complete;
}

int run_many(const Invocation& invocation, const SimulatorOptions& options, std::uint64_t seed) {
  const std::size_t most_runs = most_runs_of(invocation, options);
  ScenarioOptions any;
  OptionList list;
  declare_options(list, any);
  const NamedOptions given = given_options(invocation.app, list);
  std::vector<Axis> axes;
  for (const std::string& sweep : options.sweeps) axes.push_back(parse_axis(list, sweep));
  Grid whole = make_grid(list, std::move(axes));
  constexpr double kMostRuns = 1e7;
  const double total = whole.size() * static_cast<double>(most_runs);
  if (total > kMostRuns) {
    throw std::invalid_argument("this is a grid of " + std::to_string(std::llround(total)) +
                                " runs, more than ten million: choose fewer values or --runs");
  }
  const bool is_part = options.cell.is_part();
  if (!is_part) whole = whole.part(options.cell);
  const Grid grid = is_part ? whole.part(options.cell) : whole;
  const CampaignOptions campaign{
      .runs = most_runs, .threads = threads_or_cores(options.threads), .seed = seed};
  const auto options_of = [&](std::size_t cell) {
    return cell_options(given, whole, whole.values(cell));
  };
  const auto checked = [&](const Grid& of, std::size_t cell) {
    const Scenario one = make_scenario(cell_options(given, of, of.values(cell)), seed);
    check_length(one);
    check_verdict(one);
    // The results of the runs of a row are kept until it is done, and the rows.
    constexpr double kRun = 1'200, kRow = 1'600;
    check_memory(one, std::min(campaign.threads, static_cast<std::size_t>(total)),
                 memory_limit() - kRun * static_cast<double>(most_runs) - kRow * whole.size());
    return one;
  };
  const auto scenario = [&](std::size_t cell) { return checked(grid, cell); };
  // Before anything runs. For a large grid, only the ends are checked, because all would take longer than
  // its runs. Those of other parts are, too: all parts have the same columns.
  const auto cells = static_cast<std::size_t>(whole.size());
  const std::size_t tried = std::min<std::size_t>(cells, 1000);
  MoreColumns more{.outage = false, .errors_by = true};
  const auto add_columns = [&more](const Scenario& one) {
    more.processes |= sharing_processes(one.workload) > 0;
    more.hedges |= one.workload.retry.hedge.any();
    more.reconnects |= loses_connections(one);
    more.graph |= !one.topology.empty();
    more.outage |= one.outage_at.has_value();
    more.job |= one.workload.arrivals == Arrivals::kJob;
    for (std::size_t i = 0; i < one.topology.client_edges(); ++i) {
      const std::string& name = one.topology.edges[i].clients;
      const bool is_new =
          std::find(more.clients.begin(), more.clients.end(), name) == more.clients.end();
      if (is_new && !name.empty()) more.clients.push_back(name);
    }
  };
  add_columns(checked(whole, cells - 1));
  for (std::size_t cell = 0; cell < tried; ++cell) add_columns(checked(whole, cell));
  if (options.list_cells) {
    list_cells(grid);
    return 0;
  }
  auto start = options_json(invocation.app);
  start["seed"] = seed;
  if (is_part) start["cells"] = cells;
  OpenTableFiles files(options.table,
                       csv_comment(options.cell.titled(invocation.results_command, cells), seed));
  WorkOutput output(OutputFile(options.json));
  std::string assumed;
  if (cells == 1) {
    std::vector<std::string> no_defaults = grid.names();
    add_different(no_defaults, options, options_of(0));
    assumed = tell_before(invocation, options, options_of(0), start, no_defaults);
  } else {
    assumed = tell_before(invocation, options, start, whole, options_of, most_runs);
  }
  CellTable table(
      grid, std::cout, output.json(), std::move(files), more,
      cells > 1 && options.look.verbose ? CellTable::Print::kWide : CellTable::Print::kNothing);
  table.add_assumed(assumed);
  output.json().write(start_json("simulate", invocation.command, start));
  const auto stop = [&output] { return output.interrupted(); };
  std::vector<Finding> findings;
  std::map<std::size_t, AnsweredCell> answered;  // what is shown and tried
  const auto keep = [&](std::size_t cell, const CellResult& result,
                        const std::vector<Judgement>& judgements = {}) {
    answered[cell] = {result, judgements.empty() ? std::vector<Expectation>()
                                                 : holding(options.expectations, judgements)};
  };
  const bool complete =
      options.expectations.empty()
          ? run_campaign(grid, campaign, scenario, table, stop, progress_stream(), keep)
          : judge_cells(grid, campaign, scenario, table, stop, options.expectations,
                        {std::cout, output.json(), findings}, keep);
  if (!complete && output.has_reader()) {
    std::cerr << (answered.empty() ? "interrupted: no row was finished\n"
                                   : "interrupted: the rows below are those that were finished\n");
  }
  const ManyAnswers answers(options, given, grid, campaign, stop, output.json());
  if (cells == 1 && !answered.empty()) {
    answers.tell_one(answered.begin()->second, more);
  } else if (!answered.empty()) {
    answers.tell_rows(answered, complete);
  }
  if (is_part) say({"part", {{"part", options.cell.title(cells)}}});
  const int fault = output.finish();
  if (!complete) return std::max<int>(fault, kExitFault);
  // What became of the claims is for `merge` to say: a part with a broken one is not to be run again.
  return fault != 0 || is_part ? fault : exit_code_of(findings);
}

}  // namespace

int simulate(const Invocation& invocation, const SimulatorOptions& options) {
  occupy_standard_descriptors();
  const std::uint64_t seed =
      options.workload.seed ? *options.workload.seed : std::random_device()();
  const bool many = most_runs_of(invocation, options) > 1 || !options.sweeps.empty();
  if (options.look.explain) {
    print_arithmetic(invocation, options);
    return flush_standard_output() ? kExitHolds : kExitFault;
  }
  if (options.print_processes) {
    std::cout << processes_json(options).dump(2) << '\n';
    return flush_standard_output() ? kExitHolds : kExitFault;
  }
  if (!(options.least + options.most).empty()) return find_value(invocation, options, seed);
  return many ? run_many(invocation, options, seed) : run_once(invocation, options, seed);
}

int run_simulate(int argc, const char* const* argv, int first) {
  return run_program<SimulatorOptions>(
      "Simulates clients, retries and an outage of a service.",
      "try fewer --clients or --threads, or a shorter --observe", argc, argv, add_simulator_options,
      simulate, check_command_line,
      "  simulate --rate=170/s --strategy=exponential\n"
      "  simulate --workers=20 --service-time=100ms --outage=slow:5 --expect='down<5%'\n"
      "  simulate --sweep strategy=all --sweep outage-for=5s,20s --runs=100",
      first);
}

}  // namespace retrystorm
