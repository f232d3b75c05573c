#include "simulate/program.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <random>
#include <set>
#include <utility>

#include "common/cli/help.h"
#include "common/os/process.h"
#include "common/output/answer.h"
#include "common/output/before_line.h"
#include "common/output/json_lines.h"
#include "common/output/json_report.h"
#include "common/output/line_report.h"
#include "common/output/report.h"
#include "common/output/work_output.h"
#include "model/base/text.h"
#include "model/retry/strategies.h"
#include "model/run/disturbance.h"
#include "model/run/outlook.h"
#include "simulator/simulation.h"
#include "study/evaluator.h"
#include "study/judged_runs.h"
#include "words/words.h"

namespace retrystorm {
namespace {

using Clock = std::chrono::steady_clock;

void add_different(std::vector<std::string>& names, ScenarioOptions asked, ScenarioOptions run) {
  const ListedScenario as_asked(std::move(asked)), in_run(std::move(run));
  for (const Option& option : in_run.list.all()) {
    if (option.get() != as_asked.list.find(option.name)->get()) names.push_back(option.name);
  }
}

}  // namespace

void add_set(std::vector<std::string>& names, const ScenarioOptions& asked,
             const ScenarioOptions& run) {
  add_different(names, asked, run);
  if (!run.graph.on()) return;
  // Those of each kind of clients that the file of --topology sets, or that differ from those of the run.
  const Topology topology = topology_of(run);
  for (std::size_t i = 0; i < topology.client_edges(); ++i) {
    const std::set<std::string> set =
        run.graph.topology.set_in("clients." + topology.edges[i].clients);
    names.insert(names.end(), set.begin(), set.end());
    ScenarioOptions kind = run;
    kind.workload = topology.edges[i].caller;
    add_different(names, run, kind);
  }
}

namespace {

// All that happens in a run, in lines of JSON. Empty if it takes until then.
std::string lines_of(const ScenarioOptions& options, std::uint64_t seed, Clock::time_point until) {
  std::string lines;
  const JsonSink add = [&lines](const Json& line) { lines += line.dump(); };
  JsonReport of_run(add);
  ServiceJsonReport of_service(add);
  bool stopped = false;
  const SimulationResult result =
      Simulation(make_scenario(options, seed), {.run = {&of_run}, .service = {&of_service}})
          .run([&] { return stopped = Clock::now() > until; });
  return stopped ? "" : lines + std::to_string(result.events);
}

}  // namespace

std::vector<std::string> without_effect(const NamedOptions& given, std::uint64_t seed,
                                        const std::function<bool(const std::string&)>& is_asked) {
  constexpr auto kLongest = std::chrono::seconds(1);
  const Clock::time_point until = Clock::now() + kLongest;
  std::vector<std::string> tried, names;
  for (const auto& [name, value] : given) {
    const bool implied = std::ranges::any_of(
        kImplied, [&name = name](const Implied& each) { return each.target == name; });
    if (!implied && !is_asked(name)) tried.push_back(name);
  }
  const ScenarioOptions all = scenario_of(given);
  if (tried.empty() || all.graph.on() || all.workload.plan.file) return {};
  const std::string lines = lines_of(all, seed, until);
  for (const std::string& name : tried) {
    if (lines.empty() || Clock::now() > until) break;
    NamedOptions others = given;
    others.erase(name);
    try {
      if (lines_of(scenario_of(others), seed, until) == lines) names.push_back(name);
    } catch (const std::invalid_argument&) {  // another option needs it
    }
  }
  return names;
}

namespace {

// What can be said by arithmetic of a run.
struct BeforeRun {
  std::string line{};
  Statements warnings{};
  std::string assumed{};  // see `assumed_list`
  Json start{};           // the options, and this, for the first line of JSON
};

// `asked` has a seed. `set`: options that need not be given.
BeforeRun before_run(const Invocation& invocation, const ScenarioOptions& asked,
                     const ScenarioOptions& run, std::vector<std::string> set) {
  std::vector<OutlookOfRow> all = look_ahead_at_all(run);
  for (OutlookOfRow& each : all) warn_of_factor(invocation, each.outlook);
  add_set(set, asked, run);
  BeforeRun before{.line = before_line(all.front().outlook, retries_title(run.workload.retry),
                                       run.service.workers.workers),
                   .warnings = all.front().outlook.warnings,
                   .start = options_json(invocation.app)};
  before.assumed = assumed_list(invocation.app, before.start, all, set);
  before.start["seed"] = *asked.workload.seed;
  before.start["title"] = retries_title(run.workload.retry);
  if (all.size() == 1) before.start["outlook"] = outlook_json(all.front().outlook);
  for (const auto& [name, outlook] : all) {
    if (!name.empty()) before.start["outlooks"][name] = outlook_json(outlook);
  }
  return before;
}

// Prints the line and the warnings, unless --quiet is among the options.
void tell(const Invocation& invocation, const SimulatorOptions& options, BeforeRun before) {
  if (options.quiet) return;
  if (!options.no_trials) {
    const auto option = [&](const std::string& name) { return find_option(invocation.app, name); };
    std::vector<std::string> same;
    for (const std::string& name : without_effect(
             given_options(invocation.app, ListedScenario().list), *options.workload.seed,
             [&](const std::string& each) { return is_asked(*option(each)); })) {
      same.push_back("--" + shown_name(*option(name)) + '=' + shell_word(text_of(*option(name))));
    }
    if (!same.empty()) {
      before.warnings.push_back(
          {"same-without",
           {{"seed", std::to_string(*options.workload.seed)}, {"options", list_words(same)}}});
    }
  }
  print_before(std::cerr, before.line, before.warnings,
               style_of(STDERR_FILENO, options.look.color));
}

bool restarts_hosts(const ScenarioOptions& run) {
  return run.hosts.many() && (run.hosts.life.probes_kill() ||
                              std::ranges::any_of(run.timeline.at, [](const TimedAction& each) {
                                return each.action.kind == Action::Kind::kRestart;
                              }));
}

// "timeout 2 s, backlog 256, new connections": of the options on which an answer hangs most those that were not given.
std::string defaults_that_matter(const Invocation& invocation, const ScenarioOptions& run) {
  const auto given = [&invocation](const char* name) {
    return find_option(invocation.app, name)->count() > 0;
  };
  std::vector<std::string> words;
  const auto add = [&words](const Statement& each) { words.push_back(words_of(each)); };
  const WorkloadOptions& workload = run.workload;
  if (!given("timeout") && workload.has_timeout()) {
    add({"default-timeout", {{"timeout", workload.timeout}}});
  }
  const auto outage = run.outage();
  const bool frozen =
      outage.what.kind == Disturbance::Kind::kFreeze && outage.length > Duration::zero();
  if (!given("backlog") && frozen && !run.graph.on()) {
    add({"default-backlog", {counted("backlog", run.service.backlog)}});
  }
  if (!given("replicas") && !run.graph.on()) add({"default-replicas", {}});
  if (!given("connections") && !workload.connections.kept()) {
    add({"default-connections", {}});
  }
  if (restarts_hosts(run)) {
    if (!given("queue-length") && run.service.workers.queue_length == WorkerSettings::kUnbounded) {
      add({"default-queue-length", {}});
    }
    if (!given("host-start")) add({"default-host-start", {}});
  }
  return list_words(words);
}

// Prints to standard output what can be said by arithmetic of these options, and what was assumed. Nothing is run.
void print_arithmetic(const Invocation& invocation, const SimulatorOptions& asked) {
  std::vector<OutlookOfRow> all = look_ahead_at_all(asked);
  Statements warnings;
  for (OutlookOfRow& each : all) {
    warn_of_factor(invocation, each.outlook);
    warnings.insert(warnings.end(), each.outlook.warnings.begin(), each.outlook.warnings.end());
  }
  std::vector<std::string> set;
  add_set(set, asked, asked);
  const Style style = style_of(STDOUT_FILENO, asked.look.color);
  print_figures(std::cout, all,
                assumed_list(invocation.app, options_json(invocation.app), all, set), style);
  print_before(std::cout, "", warnings, style);
}

// Notes about a run for the person who started it: when the outage begins and ends, and what is done.
class RunNotes final : public RunObserver {
 public:
  // Both must outlive the notes.
  RunNotes(const ScenarioOptions& options, WorkOutput& output)
      : options_(options), output_(output) {}

  void on_outage(Duration t, OutageEvent event, const std::string&) override {
    const bool begins = event == OutageEvent::kBegin;
    const Disturbance outage = options_.outage().what;
    if (outage.kind == Disturbance::Kind::kLoadStep) return;  // its actions are said
    if (loses_connections(outage)) {
      if (begins) on_action(t, std::string(kConnectionsLost));
      return;
    }
    const Statement what = statement_of(outage);
    if (begins) {
      const std::string length = brief_duration(options_.outage_length());
      on_action(t, words_of({"before-outage", {{"what", words_of(what)}, {"length", length}}}));
    } else {
      on_action(t, outage.kind == Disturbance::Kind::kFreeze
                       ? words_of("outage-awake")
                       : words_of({"outage-over", {{"what", words_of(what)}}}));
    }
  }

  void on_action(Duration t, const std::string& what) override {
    output_.note(words_of({"at-clock", {{"at", clock_text(t)}, {"what", what}}}));
  }

 private:
  const ScenarioOptions& options_;
  WorkOutput& output_;
};

int run_once(const Invocation& invocation, const SimulatorOptions& options) {
  const std::uint64_t seed = *options.workload.seed;
  const Scenario scenario = checked_scenario(options, seed, 1, memory_limit(), false);
  WorkOutput output(OutputFile(options.json), OutputFile(options.server_json));
  const BeforeRun before = before_run(invocation, options, options, {});
  tell(invocation, options, before);
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
  SimulationObservers observers{.run = {&lines}};
  if (!options.json.empty()) observers.run.push_back(&json_report);
  observers.run.push_back(&answer);
  if (options.look.verbose) observers.run.push_back(&summary);
  if (options.server_lines) observers.service.push_back(&service_lines);
  if (!options.server_json.empty()) observers.service.push_back(&service_json);
  RunNotes notes(options, output);
  if (!options.quiet) observers.run.push_back(&notes);
  Simulation simulation(scenario, observers);
  const SimulationResult result = simulation.run([&output] { return output.interrupted(); });
  RunJudge judge(options.expectations, std::cout, output.json(), held_back(scenario));
  judge.judge(result.summary, one_run_figures(result));
  const int fault = output.finish();
  return fault != 0 ? fault : judge.exit_code();
}

Grid grid_of(const SimulatorOptions& options) {
  std::vector<Axis> axes;
  for (const std::string& sweep : options.sweeps) axes.push_back(parse_axis(sweep));
  const Grid grid = make_grid(std::move(axes));
  constexpr double kMostRuns = 1e7;
  const double total = grid.size() * static_cast<double>(options.runs);
  if (total > kMostRuns) {
    refuse("this is a grid of " + std::to_string(std::llround(total)) +
           " runs, more than ten million: choose fewer values or --runs");
  }
  return options.cell.is_part() ? grid : grid.part(options.cell);
}

int run_many(const Invocation& invocation, const SimulatorOptions& options) {
  const NamedOptions given = given_options(invocation.app, ListedScenario().list);
  const Grid grid = grid_of(options);
  const auto cells = static_cast<std::size_t>(grid.size());
  StudyPlan plan{.labels = grid.labels(),
                 .cells = {cells,
                           [&](std::size_t cell) {
                             const std::vector<std::string> values = grid.values(cell);
                             return StudyCell{values, cell_options(given, grid, values)};
                           }},
                 .alone = options.cell.number > 0 && !options.cell.is_part(),
                 .as_they_come = true};
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
    tell(invocation, options, before);
    study.add_assumed(before.assumed);
  } else {
    study.tell_outlook(invocation, told, set,
                       {options.expectations.empty() ? "before-sweep" : "before-sweep-at-most"});
  }
  std::map<std::size_t, AnsweredCell> answered;  // what is shown and tried
  const bool complete =
      study.run(study.own_cells(), [&](std::size_t cell, const CellResult& result) {
        answered[cell] = {result, study.holding(cell)};
      });
  tell_answers(options, given, grid, study, answered, complete);
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
  // What most people search for, if they claim nothing: that the service comes back, or, without an outage, answers.
  if (searches && options.expectations.empty()) {
    const bool outage = options.outage_length() > Duration::zero();
    options.expectations = {
        parse_expectation(outage ? "down<5%" : "success-share>99%", known_figures())};
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
