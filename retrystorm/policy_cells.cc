#include "retrystorm/policy_cells.h"

#include <algorithm>
#include <initializer_list>

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

double success_in(const StudyDisturbance& disturbance, const CellResult& result) {
  const auto& during = result.phases[1].success;
  return disturbance.outage && during ? *during : result.success_share;
}

}  // namespace retrystorm
