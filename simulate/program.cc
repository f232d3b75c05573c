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
#include "common/output/json_lines.h"
#include "common/output/json_report.h"
#include "common/output/line_report.h"
#include "common/output/report.h"
#include "common/output/work_output.h"
#include "model/base/text.h"
#include "model/retry/strategies.h"
#include "simulate/before_run.h"
#include "simulate/many_answers.h"
#include "simulator/simulation.h"
#include "study/cells.h"
#include "study/judged_runs.h"
#include "study/scenario_checks.h"
#include "study/sweep.h"
#include "words/words.h"

namespace retrystorm {
namespace {

int run_once(const Invocation& invocation, const SimulatorOptions& options) {
  const std::uint64_t seed = *options.workload.seed;
  const Scenario scenario = checked_scenario(options, seed, 1, memory_limit(), false);
  WorkOutput output(OutputFile(options.json), OutputFile(options.server_json));
  const BeforeRun before = before_run(invocation, options, options, {});
  tell(options, before);
  const std::string defaults = defaults_that_matter(invocation, options);
  write_start("simulate", invocation, before.start, seed, output.json());
  write_start("simulate", invocation, before.start, seed, output.server_json());
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

Grid grid_of(const OptionList& list, const SimulatorOptions& options) {
  std::vector<Axis> axes;
  for (const std::string& sweep : options.sweeps) axes.push_back(parse_axis(list, sweep));
  const Grid grid = make_grid(list, std::move(axes));
  constexpr double kMostRuns = 1e7;
  const double total = grid.size() * static_cast<double>(options.runs);
  if (total > kMostRuns) {
    throw std::invalid_argument("this is a grid of " + std::to_string(std::llround(total)) +
                                " runs, more than ten million: choose fewer values or --runs");
  }
  return options.cell.is_part() ? grid : grid.part(options.cell);
}

int run_many(const Invocation& invocation, const SimulatorOptions& options) {
  ScenarioOptions any;
  OptionList list;
  declare_options(list, any);
  const NamedOptions given = given_options(invocation.app, list);
  const Grid grid = grid_of(list, options);
  const auto cells = static_cast<std::size_t>(grid.size());
  if (options.list_cells) {
    list_cells(options.cell.is_part() ? grid.part(options.cell) : grid);
    return 0;
  }
  StudyPlan plan{.labels = grid.names(),
                 .cells = {cells,
                           [&](std::size_t cell) {
                             const std::vector<std::string> values = grid.values(cell);
                             return StudyCell{values, cell_options(given, grid, values)};
                           }},
                 .alone = options.cell.number > 0 && !options.cell.is_part(),
                 .as_they_come = true};
  for (std::string& label : plan.labels) label = underscored(label);
  // Of many rows, what can be said of the first and the last.
  constexpr std::size_t kMostTold = 100;
  std::vector<std::size_t> told;
  std::vector<std::string> set = grid.names();
  for (std::size_t cell = 0; cell<cells; cell += cells> kMostTold ? cells - 1 : 1) {
    told.push_back(cell);
    add_set(set, options, plan.cells.at(cell).options);
  }
  BeforeRun before;
  if (cells == 1) {
    before = before_run(invocation, options, plan.cells.at(0).options, set);
    plan.start = before.start;
  }
  Study study(invocation, options, std::move(plan));
  if (cells == 1) {
    tell(options, before);
    study.add_assumed(before.assumed);
  } else {
    study.tell_outlook(invocation, told, set,
                       options.expectations.empty() ? "before-sweep" : "before-sweep-at-most");
  }
  std::map<std::size_t, AnsweredCell> answered;  // what is shown and tried
  const bool complete =
      study.run(study.own_cells(), [&](std::size_t cell, const CellResult& result) {
        answered[cell] = {result, study.holding(cell)};
      });
  ManyAnswers(options, given, grid, study).tell(answered, complete);
  return study.finish();
}

}  // namespace

int simulate(const Invocation& invocation, const SimulatorOptions& asked) {
  occupy_standard_descriptors();
  if (asked.look.explain) {
    print_arithmetic(invocation, asked);
    return flush_standard_output() ? kExitHolds : kExitFault;
  }
  if (asked.print_processes) {
    std::cout << processes_json(asked).dump(2) << '\n';
    return flush_standard_output() ? kExitHolds : kExitFault;
  }
  SimulatorOptions options = asked;
  const bool searches = !(options.least + options.most).empty();
  // What most people search for, if they claim nothing: that the service comes back.
  if (searches && options.expectations.empty()) {
    options.expectations = {parse_expectation("down<5%", known_figures())};
  }
  options.runs = most_runs_of(invocation, options);
  if (!asked.workload.seed) options.workload.seed = std::random_device()();
  if (searches) return find_value(invocation, options);
  const bool many = options.runs > 1 || !options.sweeps.empty();
  return many ? run_many(invocation, options) : run_once(invocation, options);
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
