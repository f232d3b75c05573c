#include "retrystorm/policy_cells.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iostream>

#include "model/run/outlook.h"
#include "study/fitted_table.h"

namespace retrystorm {
namespace {

bool is_one_of(const RunResult& run, std::initializer_list<Verdict> verdicts) {
  return std::find(verdicts.begin(), verdicts.end(), run.verdict) != verdicts.end();
}

bool is_down(const RunResult& run) {
  return is_one_of(run, {Verdict::kCollapsed, Verdict::kRelapsed});
}

}  // namespace

ScenarioOptions scenario_with(const PolicyToRun& policy, const NamedOptions& settings,
                              const StudyDisturbance& disturbance, const StudyOptions& options,
                              const NamedOptions& given) {
  NamedOptions all = disturbance.options;
  all.insert(given.begin(), given.end());
  if (policy.multiplexed) all.try_emplace("connections", "multiplexed");
  all["outage-at"] = format_duration(options.outage_at);
  all["observe"] = format_duration(options.observe);
  set_strategy(all, {.name = "", .settings = settings});
  ScenarioOptions scenario = scenario_of(all);
  if (!given.contains("observe")) scenario.observe = until_drained(scenario);
  return scenario;
}

void add_to_list(std::string& list, const std::string& text) {
  list += (list.empty() ? "" : ", ") + text;
}

Hits hits_of(const Runs& now, const Runs* before) {
  Hits hits;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (before != nullptr && is_down((*before)[i])) continue;
    hits.down += is_down(now[i]) ? 1 : 0;
    hits.open += is_one_of(now[i], {Verdict::kRecovering, Verdict::kUndecided}) ? 1 : 0;
    hits.undecided += now[i].verdict == Verdict::kUndecided ? 1 : 0;
  }
  return hits;
}

std::size_t down_runs(const Runs& runs) {
  return static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), is_down));
}

void send_once(ScenarioOptions& options) {
  options.workload.retry.limit.max_retries = 0;
  options.workload.retry.hedge = {};
}

double success_in(const StudyDisturbance& disturbance, const CellResult& result) {
  const auto& during = result.phases[1].success;
  return disturbance.outage && during ? *during : result.success_share.value;
}

std::string down_with(const Study& study, const std::vector<TitledScenario>& all,
                      const std::function<void(ScenarioOptions&)>& change) {
  std::string where;
  for (const auto& [title, options] : all) {
    ScenarioOptions changed = options;
    change(changed);
    const Runs runs = study.run_beside(changed, kBesideRuns);
    if (runs.empty()) return "interrupted";
    const std::size_t hits = hits_of(runs).all();
    if (hits == 0) continue;
    add_to_list(where, std::to_string(hits) + " of " + std::to_string(kBesideRuns) + " runs (" +
                           title + ')');
  }
  return where.empty() ? "in none of " + std::to_string(kBesideRuns) + " runs of each"
                       : "in " + where;
}

void print_service_changes(const Study& study, const std::string& label,
                           const std::vector<TitledScenario>& all, const NamedOptions& given) {
  const ServiceOptions& service = all.front().options.service;
  // Returns whether no run is down with it.
  const auto try_with = [&](const std::string& option, const char* question,
                            const std::function<void(ServiceOptions&)>& change) {
    const std::string where =
        down_with(study, all, [&](ScenarioOptions& each) { change(each.service); });
    print_note(std::cout, label + "with --" + option,
               "down, or not back in time, " + where + "; ask " + question);
    return where.starts_with("in none");
  };
  if (!given.contains("abandoned") && service.capacity == Capacity::kWorkers &&
      service.abandoned == Abandoned::kServe &&
      try_with("abandoned=skip", "whether your server notices that a caller has hung up",
               [](ServiceOptions& each) { each.abandoned = Abandoned::kSkip; })) {
    return;
  }
  // Half of what makes answers late.
  const double late = late_from(service, all.front().options.workload.timeout) / 2;
  if (given.contains("shed-above") || service.shed_above > 0 || !(late >= 1) ||
      !std::isfinite(late)) {
    return;
  }
  const auto most = static_cast<std::size_t>(late);
  try_with("shed-above=" + std::to_string(most),
           "how your server can turn away what would come too late",
           [most](ServiceOptions& each) { each.shed_above = most; });
}

}  // namespace retrystorm
