#include "simulate/before_run.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <set>
#include <utility>

#include "common/cli/options.h"
#include "common/output/before_line.h"
#include "common/output/json_lines.h"
#include "common/output/report.h"
#include "common/output/style.h"
#include "model/base/text.h"
#include "model/retry/strategies.h"
#include "model/run/disturbance.h"
#include "model/run/outlook.h"
#include "words/words.h"

namespace retrystorm {

namespace {

// Adds the options of each kind of clients that the file of --topology sets, or that differ from those of the run.
void add_options_of_kinds(std::vector<std::string>& names, const ScenarioOptions& run) {
  if (!run.graph.on()) return;
  const Topology topology = make_topology(run.graph, run.service, run.workload);
  for (std::size_t i = 0; i < topology.client_edges(); ++i) {
    const std::set<std::string> set =
        run.graph.topology.set_in("clients." + topology.edges[i].clients);
    names.insert(names.end(), set.begin(), set.end());
    ScenarioOptions kind = run;
    kind.workload = topology.edges[i].caller;
    add_different(names, run, kind);
  }
}

// The two programs of the curve and of its clients both have a --factor.
void warn_of_factor(const Invocation& invocation, Outlook& outlook) {
  const auto given = [&invocation](const char* name) {
    return find_option(invocation.app, name)->count() > 0;
  };
  const bool of_curve = given("limit") || given("k") || given("base-delay");
  if (!of_curve || !given("factor") || given("curve-factor")) return;
  outlook.warnings.push_back({"factor-of-backoff", {}});
}

}  // namespace

void add_different(std::vector<std::string>& names, ScenarioOptions asked, ScenarioOptions run) {
  OptionList as_asked, in_run;
  declare_options(as_asked, asked);
  declare_options(in_run, run);
  for (std::size_t i = 0; i < in_run.all().size(); ++i) {
    const Option& option = in_run.all()[i];
    if (option.get() != as_asked.all()[i].get()) names.push_back(option.name);
  }
}

namespace {

void print(const SimulatorOptions& asked, const std::string& line, const Statements& warnings) {
  if (!asked.quiet)
    print_before(std::cerr, line, warnings, style_of(STDERR_FILENO, asked.look.color));
}

}  // namespace

std::string tell_before(const Invocation& invocation, const SimulatorOptions& asked,
                        const ScenarioOptions& run, nlohmann::ordered_json& start,
                        const std::vector<std::string>& swept) {
  start["title"] = retries_title(run.workload.retry);
  std::vector<OutlookOfRow> all = look_ahead_at_all(run);
  for (OutlookOfRow& each : all) warn_of_factor(invocation, each.outlook);
  std::vector<std::string> no_defaults = swept;
  add_options_of_kinds(no_defaults, run);
  const std::string assumed = assumed_list(invocation.app, start, all, no_defaults);
  print(asked,
        before_line(all.front().outlook, retries_title(run.workload.retry),
                    run.service.workers.workers),
        all.front().outlook.warnings);
  if (all.size() == 1) start["outlook"] = outlook_json(all.front().outlook);
  for (const auto& [name, outlook] : all) {
    if (!name.empty()) start["outlooks"][name] = outlook_json(outlook);
  }
  return assumed;
}

std::string defaults_that_matter(const Invocation& invocation, const ScenarioOptions& run) {
  const auto given = [&invocation](const char* name) {
    return find_option(invocation.app, name)->count() > 0;
  };
  Statements all;
  const WorkloadOptions& workload = run.workload;
  if (!given("timeout") && workload.has_timeout()) {
    all.push_back({"default-timeout", {{"timeout", workload.timeout}}});
  }
  const bool frozen = run.timeline.outage.kind == Disturbance::Kind::kFreeze &&
                      run.outage_length() > Duration::zero();
  if (!given("backlog") && frozen && !run.graph.on()) {
    all.push_back({"default-backlog", {{"backlog", static_cast<double>(run.service.backlog)}}});
  }
  if (!given("connections") && !workload.connections.kept()) {
    all.push_back({"default-connections", {}});
  }
  std::string text;
  for (const Statement& each : all) text += (text.empty() ? "" : ", ") + words_of(each);
  return text;
}

void print_arithmetic(const Invocation& invocation, const SimulatorOptions& asked) {
  const ScenarioOptions& run = asked;
  std::vector<OutlookOfRow> all = look_ahead_at_all(run);
  for (OutlookOfRow& each : all) warn_of_factor(invocation, each.outlook);
  std::vector<std::string> no_defaults;
  add_options_of_kinds(no_defaults, run);
  const Style style = style_of(STDOUT_FILENO, asked.look.color);
  print_figures(std::cout, all,
                assumed_list(invocation.app, options_json(invocation.app), all, no_defaults),
                style);
  Statements warnings;
  for (const OutlookOfRow& each : all) {
    warnings.insert(warnings.end(), each.outlook.warnings.begin(), each.outlook.warnings.end());
  }
  print_before(std::cout, "", warnings, style);
}

std::string row_name(const Grid& grid, std::size_t cell) {
  const std::vector<std::string> values = grid.values(cell);
  std::string name;
  for (std::size_t i = 0; i < values.size(); ++i) {
    name += (i > 0 ? ", " : "") + grid.axes()[i].name + '=' + values[i];
  }
  return name;
}

std::string tell_before(const Invocation& invocation, const SimulatorOptions& asked,
                        const nlohmann::ordered_json& start, const Grid& grid,
                        const std::function<ScenarioOptions(std::size_t cell)>& options_of,
                        std::size_t runs) {
  constexpr std::size_t kMostRows = 100;
  const auto cells = static_cast<std::size_t>(grid.size());
  std::vector<OutlookOfRow> rows;
  std::vector<std::string> no_defaults = grid.names();
  Statements warnings;
  const std::size_t step = cells > kMostRows ? cells - 1 : 1;
  for (std::size_t cell = 0; cell < cells; cell += step) {
    const ScenarioOptions run = options_of(cell);
    rows.push_back({row_name(grid, cell), look_ahead(run)});
    warn_of_factor(invocation, rows.back().outlook);
    // What holds of several rows is said of the first.
    for (const Statement& each : rows.back().outlook.warnings) {
      if (!says(warnings, each.id)) warnings.push_back(each);
    }
    add_different(no_defaults, asked, run);
    add_options_of_kinds(no_defaults, run);
  }
  const bool search = !asked.least.empty() || !asked.most.empty();
  const Statement line{search                       ? "before-search"
                       : asked.expectations.empty() ? "before-sweep"
                                                    : "before-sweep-at-most",
                       {{"rows", grid.size()}, {"runs", static_cast<double>(runs)}}};
  print(asked, words_of(line), warnings);
  return assumed_list(invocation.app, start, rows, no_defaults);
}

void RunNotes::on_outage(Duration t, OutageEvent event, const std::string&) {
  const bool begins = event == OutageEvent::kBegin;
  const Disturbance& outage = options_.timeline.outage;
  if (loses_connections(outage)) {
    if (begins) note_(clock_text(t) + ' ' + std::string(kConnectionsLost));
    return;
  }
  const std::string words = words_of(statement_of(outage));
  const std::string name = begins                                      ? words
                           : outage.kind == Disturbance::Kind::kFreeze ? "awake"
                                                                       : "over: " + words;
  note_(clock_text(t) + ' ' + name +
        (begins ? " for " + brief_duration(options_.outage_length()) : ""));
}

void RunNotes::on_action(Duration t, const std::string& what) {
  note_(clock_text(t) + ' ' + what);
}

}  // namespace retrystorm
