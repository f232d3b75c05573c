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

void add_different(std::vector<std::string>& names, ScenarioOptions asked, ScenarioOptions run) {
  OptionList as_asked, in_run;
  declare_options(as_asked, asked);
  declare_options(in_run, run);
  for (std::size_t i = 0; i < in_run.all().size(); ++i) {
    const Option& option = in_run.all()[i];
    if (option.get() != as_asked.all()[i].get()) names.push_back(option.name);
  }
}

}  // namespace

void add_set(std::vector<std::string>& names, const ScenarioOptions& asked,
             const ScenarioOptions& run) {
  add_different(names, asked, run);
  if (!run.graph.on()) return;
  // Those of each kind of clients that the file of --topology sets, or that differ from those of the run.
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

void tell(const SimulatorOptions& options, const BeforeRun& before) {
  if (options.quiet) return;
  print_before(std::cerr, before.line, before.warnings,
               style_of(STDERR_FILENO, options.look.color));
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
    all.push_back({"default-backlog", {counted("backlog", run.service.backlog)}});
  }
  if (!given("replicas") && !run.graph.on()) all.push_back({"default-replicas", {}});
  if (!given("connections") && !workload.connections.kept()) {
    all.push_back({"default-connections", {}});
  }
  std::string text;
  for (const Statement& each : all) text += (text.empty() ? "" : ", ") + words_of(each);
  return text;
}

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
