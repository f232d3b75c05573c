#include "simulate/program.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/os/process.h"
#include "common/output/expectation.h"
#include "common/output/json_lines.h"
#include "common/output/json_report.h"
#include "common/output/line_report.h"
#include "common/output/report.h"
#include "common/output/start_json.h"
#include "common/output/work_output.h"
#include "model/base/text.h"
#include "model/retry/title.h"
#include "simulate/before_run.h"
#include "simulate/next_to_try.h"
#include "simulate/notes.h"
#include "simulate/processes.h"
#include "simulate/tried_suggestions.h"
#include "simulate/value_search.h"
#include "simulator/simulation.h"
#include "study/campaign.h"
#include "study/cells.h"
#include "study/evaluator.h"
#include "study/fitted_table.h"
#include "study/judged_runs.h"
#include "study/scenario_checks.h"
#include "study/sweep.h"
#include "study/threads.h"
#include "study/trial_lines.h"

namespace retrystorm {
namespace {

void tell_runs(std::size_t rows, std::size_t runs, bool at_most) {
  std::cerr << "runs       " << rows << " rows of " << (at_most ? "up to " : "") << runs
            << (runs == 1 ? " run" : " runs") << " each\n";
}

int run_once(const Invocation& invocation, const SimulatorOptions& options, std::uint64_t seed) {
  const Scenario scenario = make_scenario(options, seed);
  check_length(scenario);
  check_memory(scenario, 1, memory_limit());
  auto start = options_json(invocation.app);
  start["seed"] = seed;
  WorkOutput output(OutputFile(options.json), OutputFile(options.server_json));
  tell_seed(options, seed);
  tell_outlook(invocation, options, options, start);
  output.json().write(start_json("simulate", invocation.command, start));
  output.server_json().write(start_json("simulate", invocation.command, start));
  LineReport lines(std::cout);
  JsonReport json_report(output.json().sink());
  ServiceLineReport service_lines(std::cout, ServiceLineReport::Stamp::kVirtual);
  ServiceJsonReport service_json(output.server_json().sink());
  SimulationObservers observers{.run = {&lines, &json_report}};
  if (options.server_lines) observers.service.push_back(&service_lines);
  if (!options.server_json.empty()) observers.service.push_back(&service_json);
  RunNotes notes(options, [&output](const std::string& line) { output.note(line); });
  if (!options.quiet) observers.run.push_back(&notes);
  Simulation simulation(scenario, observers);
  const SimulationResult result = simulation.run([&output] { return output.interrupted(); });
  RunJudge judge(options.expectations, std::cout, output.json(), held_back(scenario));
  judge.judge(result.summary, one_run_figures(result));
  if (!options.quiet && options.service.rate_limit.rate > 0) {
    const AskedRow asked{options, {}, summarize({result_of(result)}), {}};
    const Evaluator evaluator(1, [&output] { return output.interrupted(); });
    JsonLines none(OutputFile(""), OutputQueue::WhenFull::kWait);  // the summary is the last line
    tell_trials({{"", AnswerTrials(asked, evaluator, seed, 1, true)}}, none);
  }
  const int fault = output.finish();
  return fault != 0 ? fault : judge.exit_code();
}

bool sweeps_strategies(const Grid& grid) {
  return std::any_of(grid.axes().begin(), grid.axes().end(),
                     [](const Axis& axis) { return axis.name == "strategy"; });
}

// The files among the swept strategies.
std::vector<ListedStrategy> swept_files(const Grid& grid) {
  std::vector<ListedStrategy> files;
  for (const Axis& axis : grid.axes()) {
    for (const auto& [name, settings] : axis.files) files.push_back({name, settings});
  }
  return files;
}

// Names the options that hold in every row and override settings of the strategies, and what their files set besides.
void print_overruling(const NamedOptions& in_force, const Grid& grid) {
  if (!sweeps_strategies(grid)) return;
  const std::vector<ListedStrategy> files = swept_files(grid);
  for (const std::string& text :
       {overruling_text(in_force), brought_text(files, in_force), left_text(files, in_force)}) {
    if (!text.empty()) std::cout << wrapped("", text, 2);
  }
}

// Says of a sweep whose budgets save for longer than the calm before the outage that they begin it less than full.
void print_saved(const Grid& grid, std::size_t cells,
                 const std::function<ScenarioOptions(std::size_t cell)>& options_of) {
  constexpr std::size_t kMostRows = 1000;
  std::string rows;
  std::size_t some = 0;
  std::optional<Outlook::Saves> longest;
  for (std::size_t cell = 0; cell < std::min(cells, kMostRows); ++cell) {
    const auto saves = look_ahead(options_of(cell)).budget_saves;
    if (!saves) continue;
    if (!longest || saves->of > longest->of) longest = saves;
    if (++some <= 3) rows += (rows.empty() ? "" : ", ") + row_name(grid, cell);
  }
  if (!longest) return;
  if (some > 3) rows += " and " + std::to_string(some - 3) + " others";
  print_note(std::cout,
             "retry budgets that save for longer than the calm before the outage (" +
                 readable(longest->calm) + ")",
             some == cells ? "in all rows" : rows);
  print_wrapped(std::cout, "  ",
                "full ones, as after a long calm, pay for more retries, perhaps for all of the "
                "outage's: see --outage-at=" +
                    format_duration(longest->of) + " before you choose one");
}

// The settings that all rows have in common, but for those of the line above.
void print_common(const NamedOptions& in_force, const Grid& grid, const std::string& runs) {
  const std::string above = sweeps_strategies(grid) ? overruling_text(in_force) : "";
  std::string list;
  for (const auto& [name, value] : in_force) {
    const bool said = above.find(' ' + name + '=') != above.npos;
    if (!said && name != "seed") list += name + '=' + value + ", ";
  }
  const bool brought = !brought_text(swept_files(grid), in_force).empty();
  print_note(std::cout, "all rows",
             list + (list.empty() ? "the defaults" : "the rest by default") +
                 (brought ? " but for these files" : "") + " (--print-settings), " + runs);
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

// The rows of a table that are tried. Each takes as long as a few rows.
constexpr std::size_t kMostTrials = 6;

int run_many(const Invocation& invocation, const SimulatorOptions& options, std::uint64_t seed) {
  const std::size_t most_runs = most_runs_of(invocation, options);
  ScenarioOptions any;
  OptionList list;
  declare_options(list, any);
  const NamedOptions given = given_options(invocation.app, list);
  std::vector<Axis> axes;
  for (const std::string& sweep : options.sweeps) axes.push_back(parse_axis(list, sweep));
  Grid grid = make_grid(list, std::move(axes));
  constexpr double kMostRuns = 1e7;
  const double total = grid.size() * static_cast<double>(most_runs);
  if (total > kMostRuns) {
    throw std::invalid_argument("this is a grid of " + std::to_string(std::llround(total)) +
                                " runs, more than ten million: choose fewer values or --runs");
  }
  if (static_cast<double>(options.cell) > grid.size()) {
    throw std::invalid_argument("--cell: the sweep has " +
                                std::to_string(std::llround(grid.size())) + " cells");
  }
  if (options.cell > 0) grid = grid.only(options.cell - 1);
  const CampaignOptions campaign{
      .runs = most_runs, .threads = threads_or_cores(options.threads), .seed = seed};
  const auto options_of = [&](std::size_t cell) {
    return cell_options(given, grid, grid.values(cell));
  };
  const auto scenario = [&](std::size_t cell) {
    const Scenario one = make_scenario(options_of(cell), seed);
    check_length(one);
    check_verdict(one);
    // The results of the runs of a row are kept until it is done, and the rows.
    constexpr double kRun = 1'200, kRow = 1'600;
    check_memory(one, std::min(campaign.threads, static_cast<std::size_t>(total)),
                 memory_limit() - kRun * static_cast<double>(most_runs) - kRow * grid.size());
    return one;
  };
  // Before anything runs. For a large grid, only the ends are checked, because all would take longer than
  // its runs.
  const auto cells = static_cast<std::size_t>(grid.size());
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
  add_columns(scenario(cells - 1));
  for (std::size_t cell = 0; cell < tried; ++cell) add_columns(scenario(cell));
  if (options.list_cells) {
    list_cells(grid);
    return 0;
  }
  auto start = options_json(invocation.app);
  start["seed"] = seed;
  OpenTableFiles files(options.table, csv_comment(invocation.results_command, seed));
  WorkOutput output(OutputFile(options.json));
  tell_seed(options, seed);
  std::string assumed;
  if (cells == 1) {
    std::vector<std::string> no_defaults = grid.names();
    add_different(no_defaults, options, options_of(0));
    assumed = tell_outlook(invocation, options, options_of(0), start, no_defaults);
  } else {
    assumed = tell_outlooks(invocation, options, start, grid, options_of);
    if (!options.quiet) tell_runs(cells, most_runs, !options.expectations.empty());
  }
  print_overruling(in_force(given, grid), grid);
  if (cells > 1 && !options.wide) {
    print_common(in_force(given, grid), grid,
                 (options.expectations.empty() ? "" : "up to ") + std::to_string(most_runs) +
                     (most_runs == 1 ? " run" : " runs") + " each, seed " + std::to_string(seed));
  }
  CellTable table(grid, std::cout, output.json(), std::move(files), more,
                  options.wide ? CellTable::Print::kWide : CellTable::Print::kFitted);
  table.add_assumed(assumed);
  const bool is_one_kind = scenario(0).topology.client_edges() < 2;
  if (cells == 1 && !options.wide && is_one_kind) {
    const Scenario one = scenario(0);
    const WorkloadOptions& workload = one.workload;
    // A strategy may have the name of a growth, and another rule.
    const bool is_named = retries_title(workload.retry) != retries_in_words(workload.retry);
    std::cout << callers_title(one)
              << (is_named ? " (" + retries_in_words(workload.retry) + ')' : "") << ", "
              << callers_text(workload.clients, arrival_rate(workload))
              << (workload.connections.multiplexed() ? ", multiplexed connections" : "") << '\n';
  }
  output.json().write(start_json("simulate", invocation.command, start));
  const auto stop = [&output] { return output.interrupted(); };
  std::vector<Finding> findings;
  // Of the first rows:
  std::vector<CellResult> results(std::min(cells, kMostTrials));
  std::vector<std::vector<Expectation>> holds(results.size());
  const auto trials_of = [&](std::size_t cell) {
    return AnswerTrials(
        {options_of(cell), with_values(given, grid, grid.values(cell)), results[cell], holds[cell]},
        Evaluator(campaign.threads, stop), campaign.seed, campaign.runs);
  };
  std::optional<AnswerTrials> trials;  // of the only row, whose figures they stand beside
  RowToImprove to_improve;
  std::size_t finished = 0;
  bool all_down = cells > 1;
  const auto keep = [&](std::size_t cell, const CellResult& result,
                        const std::vector<Judgement>& judgements = {}) {
    ++finished;
    if (cell < results.size()) {
      results[cell] = result;
      if (!judgements.empty()) holds[cell] = holding(options.expectations, judgements);
    }
    to_improve.see(cell, result);
    all_down = all_down && result.mostly_down();
    if (cells > 1 || options.quiet) return;
    trials.emplace(trials_of(cell));
    table.add_others(trials->others(true));
  };
  const bool complete =
      options.expectations.empty()
          ? run_campaign(grid, campaign, scenario, table, stop,
                         isatty(STDERR_FILENO) == 1 ? &std::cerr : nullptr, keep)
          : judge_cells(grid, campaign, scenario, table, stop, options.expectations,
                        {std::cout, output.json(), findings}, keep);
  if (!complete && output.has_reader())
    std::cerr << (finished > 0 ? "interrupted: the cells above are those that were finished\n"
                               : "interrupted: no cell was finished\n");
  std::vector<TrialsOfRow> tried_rows;
  if (trials) tried_rows.push_back({"", *trials});
  for (std::size_t cell = 0; complete && !options.quiet && cells > 1 && cell < results.size();
       ++cell) {
    tried_rows.push_back({row_name(grid, cell), trials_of(cell)});
  }
  tell_trials(tried_rows, output.json());
  const ScenarioOptions some = options_of(0);
  if (const auto later = later_changes(some.timeline);
      complete && !options.quiet && some.outage_length() > Duration::zero() && !later.empty()) {
    std::string changes;
    for (const std::string& each : later) changes += (changes.empty() ? "" : ", ") + each;
    std::cout << wrapped("later: ",
                         "what " + changes +
                             " changes may be why a service is down, or ends what is judged: "
                             "--runs=1 names it (docs/output.md)",
                         2);
  }
  const auto some_row = [&tried_rows](bool (AnswerTrials::*is_so)() const) {
    return std::any_of(tried_rows.begin(), tried_rows.end(),
                       [is_so](const TrialsOfRow& each) { return (each.trials.*is_so)(); });
  };
  if (cells > results.size() && some_row(&AnswerTrials::any)) {
    std::cout << "other rows: the backlog is not tried; --cell=N has that of each\n";
  }
  if (complete && cells > 1 && !given.contains("outage-at")) {
    print_saved(grid, cells, options_of);
  }
  if (complete && !options.quiet && cells == 1 && !options.wide) {
    std::cout << "words: --explain 'OK lost' says what that means; docs/output.md has all words\n";
  }
  const bool answered = (!findings.empty() && exit_code_of(findings) == kExitHolds) ||
                        (to_improve.is_well() && some_row(&AnswerTrials::hangs));
  if (complete && !options.quiet && !answered) {
    const std::size_t cell = to_improve.row();
    const ScenarioOptions shown = options_of(cell);
    const bool open = shown.workload.arrivals == Arrivals::kOpen;
    const bool down = cells == 1 ? to_improve.result().mostly_down() : all_down;
    // The curve with its clients is the experiment.
    const bool is_own = open || shown.service.capacity == Capacity::kWorkers || shown.graph.on();
    if (down && is_own && !sweeps_strategies(grid) && look_ahead(shown).retries.usual_waits) {
      const bool limited = shown.workload.retry.limit.max_retries != LimitSettings::kUnlimited;
      std::cout << (limited
                        ? "they wait by default, not as you do: give your waits (--backoff-base, "
                          "--growth, --jitter)\n"
                        : "they retry by default, not as you do: give your retries (--strategy, "
                          "--max-attempts, --backoff-base)\n");
    }
    const std::string label = cells == 1 ? "" : row_name(grid, cell) + ": ";
    for (const std::string& text :
         tried_suggestions(with_values(given, grid, grid.values(cell)), to_improve.result(),
                           grid.names(), campaign, stop)) {
      std::cout << wrapped(label + "try: ", text, 2);
    }
    const bool finds_load =
        std::any_of(grid.axes().begin(), grid.axes().end(),
                    [](const Axis& axis) { return axis.name == "rate" || axis.name == "clients"; });
    if (all_down && !finds_load) {
      std::cout << "most runs of each row are down: in place of --sweep, --most="
                << (open ? "rate" : "clients")
                << " --expect='down<20%' shows how much load is survived\n";
    }
  }
  // Of the first row that is well, but not in what was tried beside it.
  for (std::size_t i = 0; complete && !options.quiet && i < tried_rows.size(); ++i) {
    const std::string text = suggestion_beside(options_of(i), results[i], tried_rows[i].trials,
                                               grid.names(), campaign, stop);
    if (text.empty()) continue;
    std::cout << wrapped((cells == 1 ? "" : row_name(grid, i) + ": ") + "try: ", text, 2);
    break;
  }
  const int fault = output.finish();
  if (!complete) return std::max<int>(fault, kExitFault);
  return fault != 0 ? fault : exit_code_of(findings);
}

}  // namespace

int simulate(const Invocation& invocation, const SimulatorOptions& options) {
  occupy_standard_descriptors();
  const std::uint64_t seed =
      options.workload.seed ? *options.workload.seed : std::random_device()();
  const bool many = most_runs_of(invocation, options) > 1 || !options.sweeps.empty();
  if (options.print_processes) {
    std::cout << processes_json(options).dump(2) << '\n';
    return flush_standard_output() ? kExitHolds : kExitFault;
  }
  if (!(options.least + options.most).empty()) return find_value(invocation, options, seed);
  return many ? run_many(invocation, options, seed) : run_once(invocation, options, seed);
}

}  // namespace retrystorm
