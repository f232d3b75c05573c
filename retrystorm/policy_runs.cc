#include "retrystorm/policy_runs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "common/output/json_text.h"
#include "model/base/text.h"
#include "policies/changes.h"
#include "retrystorm/disturbances.h"
#include "study/acceptance.h"
#include "study/backlog_trial.h"
#include "study/fitted_table.h"
#include "study/judged_runs.h"

namespace retrystorm {
namespace {

using Runs = std::vector<RunResult>;

// The plan for a claim such as down<1%; nothing for other claims, which take all runs.
std::optional<Acceptance> plan_for(const Expectation& claim, std::size_t runs) {
  const bool is_limit = claim.relation == Expectation::Relation::kBelow ||
                        claim.relation == Expectation::Relation::kAtMost;
  if (claim.verdict || claim.figure != "down" || !is_limit || claim.bound <= 0) return std::nullopt;
  const auto plan = acceptance(runs, claim.bound);
  if (plan) return plan;
  throw std::invalid_argument("--runs: " + std::to_string(runs) + " runs cannot show " +
                              claim.text + ": at least " + std::to_string(least_runs(claim.bound)) +
                              " are needed");
}

bool is_one_of(const RunResult& run, std::initializer_list<Verdict> verdicts) {
  return std::find(verdicts.begin(), verdicts.end(), run.verdict) != verdicts.end();
}

bool is_down(const RunResult& run) {
  return is_one_of(run, {Verdict::kCollapsed, Verdict::kRelapsed});
}

// A policy in a disturbance.
struct Cell {
  std::size_t now = 0;                  // its cell in the study
  std::optional<std::size_t> before{};  // that of the policy before
  const StudyDisturbance* disturbance = nullptr;

  bool outage() const { return disturbance->outage; }
};

// The runs that count against a policy: those that are down, or down only with the change.
struct Hits {
  std::size_t down = 0;
  std::size_t open = 0;  // may still be
};

Hits hits_of(const Runs& now, const Runs* before) {
  Hits hits;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (before != nullptr && is_down((*before)[i])) continue;
    hits.down += is_down(now[i]) ? 1 : 0;
    hits.open += is_one_of(now[i], {Verdict::kRecovering, Verdict::kUndecided}) ? 1 : 0;
  }
  return hits;
}

std::size_t down_runs(const Runs& runs) {
  return static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), is_down));
}

Runs at_most(const Runs& runs, std::size_t count) {
  const auto end = static_cast<std::ptrdiff_t>(std::min(count, runs.size()));
  return {runs.begin(), runs.begin() + end};
}

// Judges the runs of cells against claims, each by its plan.
class Judge {
 public:
  explicit Judge(const StudyOptions& options) : options_(options) {
    for (const Expectation& each : options.expectations) {
      plans_.push_back(plan_for(each, options.runs));
    }
  }

  void print_plans(bool of_changes) const {
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      if (!plans_[i]) continue;
      std::cout << options_.expectations[i].text << " holds in a disturbance if at most "
                << plans_[i]->most_for << " of " << plans_[i]->runs << " runs are "
                << (of_changes ? "down now and were not before" : "down at the end");
      if (plans_[i]->least_against <= plans_[i]->runs) {
        std::cout << ", and is broken by " << plans_[i]->least_against;
      }
      std::cout << '\n';
    }
  }

  std::vector<Accepted> judge_runs(const Runs& now, const Runs* before) const {
    const bool all = now.size() == options_.runs;
    const Hits hits = hits_of(now, before);
    std::vector<Accepted> result(plans_.size());
    std::vector<Judgement> after_all;
    if (all) after_all = judge_once(now, options_.expectations);
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      if (plans_[i]) {
        result[i] = judge(*plans_[i], now.size(), hits.down, hits.open);
      } else if (all) {
        result[i] = {after_all[i], true};
      } else {
        result[i].judgement.runs = now.size();
      }
    }
    return result;
  }

 private:
  const StudyOptions& options_;
  std::vector<std::optional<Acceptance>> plans_;  // of each expectation
};

// All cells of a study, those of a policy one after the other.
struct Plan {
  std::vector<StudyCell> study;
  std::vector<Cell> cells;
};

// The policy with these settings in place of its own.
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

Plan plan_of(const StudyOptions& options, const std::vector<PolicyCase>& cases,
             const NamedOptions& given) {
  Plan plan;
  for (const PolicyCase& each : cases) {
    for (const StudyDisturbance& disturbance : disturbances()) {
      const auto add = [&](const PolicyToRun& policy) {
        plan.study.push_back({{policy.name, disturbance.title},
                              scenario_with(policy, policy.settings, disturbance, options, given)});
        return plan.study.size() - 1;
      };
      Cell cell{.now = add(each.policy), .disturbance = &disturbance};
      if (each.before) cell.before = add(*each.before);
      plan.cells.push_back(cell);
    }
  }
  return plan;
}

// "3 of 628", "0 of 628, 20 open", or "0 -> 3 of 628" with a policy before.
std::string down_of(const Runs& now, const Runs* before) {
  std::string count = std::to_string(down_runs(now)) + " of " + std::to_string(now.size());
  if (const std::size_t open = hits_of(now, before).open; open > 0) {
    count += ", " + std::to_string(open) + " open";
  }
  return before == nullptr ? count : std::to_string(down_runs(*before)) + " -> " + count;
}

Table table_of(bool of_changes, bool of_many) {
  Table table;
  if (of_many) table.columns.push_back({.title = "policy", .code = true});
  table.columns.push_back({.title = "disturbance", .code = true});
  const auto add = [&table](const char* title) { table.columns.push_back({.title = title}); };
  add("down");
  if (of_changes) add("only now");
  for (const char* title : {"at most", "back after", "success in it", "load"}) add(title);
  return table;
}

// The success of the requests that begin in a disturbance. That of the whole run would hang on how long
// one observes. Errors last for the whole run.
double success_in(const StudyDisturbance& disturbance, const CellResult& result) {
  const auto& during = result.phases[1].success;
  return disturbance.outage && during ? *during : result.success_share.value;
}

std::vector<std::string> figures_of(const Cell& cell, const Runs& runs) {
  const CellResult result = summarize(runs);
  return {cell.outage() ? back_text(result) : "-",
          success_text(success_in(*cell.disturbance, result)),
          fixed(rounded(result.amplification.value), 2)};
}

// The options that every policy sets.
std::vector<std::string> set_by_all(const std::vector<PolicyCase>& cases) {
  std::vector<std::string> names = kSetByDisturbances;
  for (const auto& [name, value] : cases.front().policy.settings) {
    const bool all = std::all_of(cases.begin(), cases.end(), [&name = name](const auto& each) {
      return each.policy.settings.contains(name);
    });
    if (all) names.push_back(name);
  }
  const bool all = std::all_of(cases.begin(), cases.end(),
                               [](const PolicyCase& each) { return each.policy.multiplexed; });
  if (all) names.emplace_back("connections");
  return names;
}

// Says where a policy was not put to the test: nothing that failed is retried.
void print_not_retried(const std::string& label, const Plan& plan, std::size_t first,
                       const Study::Runs& runs) {
  std::string names;
  bool hangs = false;
  for (std::size_t i = first; i < first + disturbances().size(); ++i) {
    const Cell& cell = plan.cells[i];
    if (runs[cell.now].empty()) continue;
    const CellResult result = summarize(runs[cell.now]);
    if (result.nothing_retried == 0) continue;
    names += (names.empty() ? "" : ", ") + plan.study[cell.now].labels.back() + " (" +
             to_string(result.not_retryable) + ')';
    hangs |= look_ahead(plan.study[cell.now].options).hangs_on_rejections();
  }
  print_note(std::cout, label + "nothing was retried, these failures are not retryable", names);
  if (hangs) {
    std::cout << "  Only errors are retried. They decide where a service turns requests away: give "
                 "--queue-length\n  and --rejection-cost\n";
  }
}

// Runs with settings that were not asked for have so many seeds.
constexpr std::size_t kBesideRuns = 20;

// The success without a retry budget in each disturbance; empty where that was not run.
struct WithoutBudget {
  std::vector<double> success{};
  bool costs = false;  // does the budget fail requests that retries would have saved?
};

// What a retry budget, such as gRPC's retryThrottling, does: it fails requests that more retries would
// have saved, and keeps the service from going down.
WithoutBudget print_budget(const std::string& label, const PolicyToRun& policy, const Plan& plan,
                           std::size_t first, const Study::Runs& runs, const Study& study,
                           const StudyOptions& options, const NamedOptions& given) {
  const auto budget = policy.settings.find("retry-budget");
  if (budget == policy.settings.end() || budget->second == "none") return {};
  if (given.contains("retry-budget") || given.contains("strategy")) return {};
  WithoutBudget result;
  NamedOptions without = policy.settings;
  std::erase_if(without, [](const auto& each) { return each.first.starts_with("budget-"); });
  without["retry-budget"] = "none";
  std::string costs, saves;
  for (std::size_t i = 0; i < disturbances().size(); ++i) {
    const Runs with = at_most(runs[plan.cells[first + i].now], kBesideRuns);
    if (with.empty()) return {};
    const StudyDisturbance& disturbance = disturbances()[i];
    const Runs free =
        study.run_beside(scenario_with(policy, without, disturbance, options, given), with.size());
    if (free.empty()) return {};
    result.success.push_back(success_in(disturbance, summarize(free)));
    const double lost = result.success.back() - success_in(disturbance, summarize(with));
    if (down_runs(free) > down_runs(with)) {
      saves += (saves.empty() ? "" : ", ") + std::string(disturbance.title);
    } else if (lost >= 0.00005) {
      costs +=
          (costs.empty() ? "" : ", ") + std::string(disturbance.title) + ' ' + percent(lost, 2);
    }
  }
  const std::string name = label + "retry budget " + budget->second;
  print_note(std::cout, name + " fails requests that retries would have saved", costs);
  print_note(std::cout, name + " keeps the service from going down", saves);
  if (costs.empty() && saves.empty()) {
    std::cout << name << " makes no difference in these disturbances\n";
  }
  result.costs = !costs.empty();
  return result;
}

// The least of a few ratios with which gRPC's throttle fails next to no request that retries would have saved, where
// a tenth of the attempts fails. Where a share p fails, the tokens fall if the ratio is below p / (1 - p). A
// small maxTokens needs more than that, for the failures come at random. No disturbance may come of it worse.
void print_token_ratio(const std::string& label, const PolicyToRun& policy, const Plan& plan,
                       std::size_t first, const Study::Runs& runs, const Study& study,
                       const StudyOptions& options, const NamedOptions& given,
                       const WithoutBudget& free) {
  constexpr double kNextToNone = 0.001;
  const auto ratio = policy.settings.find("budget-deposit");
  if (!free.costs || !policy.multiplexed || ratio == policy.settings.end() ||
      policy.settings.at("retry-budget") != "grpc" || given.contains("budget-deposit")) {
    return;
  }
  const auto& all = disturbances();
  const auto errors =
      std::find_if(all.begin(), all.end(), [](const auto& each) { return !each.outage; });
  const auto at = static_cast<std::size_t>(errors - all.begin());
  const double success =
      success_in(*errors, summarize(at_most(runs[plan.cells[first + at].now], kBesideRuns)));
  if (free.success[at] - success < kNextToNone) return;
  const double share = std::stod(errors->options.at("error-share"));
  // gRPC counts in thousandths of a token.
  const double least = std::ceil(share / (1 - share) * 1000) / 1000;
  for (const double each : {least, 0.25, 0.5, 1.0}) {
    if (each <= std::stod(ratio->second)) continue;
    NamedOptions changed = policy.settings;
    changed["budget-deposit"] = print_number(each);
    const auto run = [&](std::size_t i) {
      // As many as the file itself has, so that what is down can be compared.
      const std::size_t count = std::min(kBesideRuns, runs[plan.cells[first + i].now].size());
      return study.run_beside(scenario_with(policy, changed, all[i], options, given), count);
    };
    const Runs with = run(at);
    if (with.empty()) return;
    const double now = success_in(*errors, summarize(with));
    if (free.success[at] - now >= kNextToNone) continue;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Runs other = run(i);
      if (other.empty()) return;
      const Hits old = hits_of(at_most(runs[plan.cells[first + i].now], kBesideRuns), nullptr);
      const Hits hits = hits_of(other, nullptr);
      // A larger ratio lets more retries through: no still larger one is tried.
      if (hits.down > old.down || hits.down + hits.open > old.down + old.open) return;
    }
    std::cout
        << label << "try: write this into retryThrottling (" << success_text(now)
        << " of the requests succeed in " << errors->title << " instead of "
        << success_text(success)
        << ",\n  and no more runs are down in any disturbance; a share p of errors needs more than p / (1 - p)):\n    \"tokenRatio\": "
        << changed["budget-deposit"] << '\n';
    return;
  }
}

// A frozen service finds a full accept queue when it wakes: the first of the usual backlogs with which runs in this
// disturbance are down, or not back in time, while none is with the backlog of the check. Empty: none.
std::string other_backlog(const PolicyToRun& policy, const StudyDisturbance& disturbance,
                          const Study& study, const StudyOptions& options,
                          const NamedOptions& given) {
  constexpr std::size_t kRuns = 15;
  // A Tomcat of which only the workers hang accepts so many.
  constexpr std::size_t kBacklogOfHungTomcat = 8292;
  ScenarioOptions scenario = scenario_with(policy, policy.settings, disturbance, options, given);
  const bool is_known = given.contains("backlog") && scenario.service.backlog != kBacklogOfTomcat;
  if (is_known || scenario.service.capacity != Capacity::kWorkers ||
      scenario.workload.connections.multiplexed()) {
    return "";
  }
  std::vector<std::size_t> backlogs(kUsualBacklogs.begin(), kUsualBacklogs.end());
  backlogs.push_back(kBacklogOfHungTomcat);
  // A larger backlog is more work for a service that wakes.
  std::erase_if(backlogs, [&](std::size_t backlog) { return backlog <= scenario.service.backlog; });
  for (const std::size_t backlog : backlogs) {
    scenario.service.backlog = backlog;
    const Hits hits = hits_of(study.run_beside(scenario, kRuns), nullptr);
    if (hits.down + hits.open == 0) continue;
    return "at --backlog=" + std::to_string(backlog) + ' ' + std::to_string(hits.down + hits.open) +
           " of " + std::to_string(kRuns) + " runs are " +
           (hits.down > 0 ? "down" : "not back in time") + " in " + disturbance.title +
           ", ask what your server listens with";
  }
  return "";
}

// What there is to say where no run is down: the outage after which it takes longest to be back, and the errors
// of which the fewest requests succeed. In a freeze none do, with any policy.
//
// `for_what`: such as " for storms". The backlog of a server is a setting that few people know, so others are tried.
void print_weakest(const std::string& label, const char* for_what, const PolicyToRun& policy,
                   const Plan& plan, std::size_t first, const Study::Runs& runs, const Study& study,
                   const StudyOptions& options, const NamedOptions& given) {
  std::size_t all = 0;
  double least = 2;
  Duration longest{-1};
  std::string outage, errors;
  const Cell* weakest = nullptr;
  for (std::size_t i = first; i < first + disturbances().size(); ++i) {
    const Cell& cell = plan.cells[i];
    const Runs& now = runs[cell.now];
    const Hits hits = hits_of(now, nullptr);
    if (now.empty() || hits.down + hits.open > 0) return;
    all += now.size();
    const CellResult result = summarize(now);
    const std::string& title = plan.study[cell.now].labels.back();
    if (const auto back = result.recovery_median; cell.outage() && back && *back >= longest) {
      longest = *back;
      weakest = &cell;
      outage = *back > Duration::zero() ? "at the latest the service is back " + readable(*back) +
                                              " after it was " + title
                                        : "the service is back at once";
    }
    if (cell.outage()) continue;
    const double success = success_in(*cell.disturbance, result);
    if (success >= least) continue;
    least = success;
    errors = success_text(success) + " of the requests succeed in " + title;
  }
  std::string name = label + "nothing to change" + for_what;
  std::string text =
      "none of " + std::to_string(all) + " runs is down; " + outage + ", and " + errors;
  if (weakest != nullptr) {
    const std::string other = other_backlog(policy, *weakest->disturbance, study, options, given);
    if (!other.empty()) {
      name += " at --backlog=" + std::to_string(plan.study[weakest->now].options.service.backlog);
      text = other + " (simulate --backlog=...), and with that of this check " + text;
    }
  }
  print_note(std::cout, name, text);
}

// Whether a service that skips requests whose callers have hung up would not be down.
void print_abandoned(const std::string& label, const PolicyToRun& policy, const Study& study,
                     const StudyOptions& options, const NamedOptions& given) {
  std::string open;
  for (const StudyDisturbance& disturbance : disturbances()) {
    ScenarioOptions scenario = scenario_with(policy, policy.settings, disturbance, options, given);
    ServiceOptions& service = scenario.service;
    if (given.contains("abandoned") || service.capacity != Capacity::kWorkers ||
        service.abandoned != Abandoned::kServe) {
      return;
    }
    service.abandoned = Abandoned::kSkip;
    const Runs runs = study.run_beside(scenario, kBesideRuns);
    if (runs.empty()) return;
    const Hits hits = hits_of(runs, nullptr);
    if (hits.down + hits.open == 0) continue;
    open += (open.empty() ? "" : ", ") + std::string(disturbance.title) + ": " +
            std::to_string(hits.down + hits.open) + " of " + std::to_string(kBesideRuns);
  }
  const std::string name = label + "with --abandoned=skip";
  if (open.empty()) {
    print_note(
        std::cout, name,
        "0 of " + std::to_string(kBesideRuns) +
            " runs are down in each disturbance, ask whether your server notices that a caller has "
            "hung up");
  } else {
    print_note(std::cout, name + " still down or not back in time", open);
  }
}

// How a service fares without any retries: where it is then down or not back in time, no policy is to blame.
struct WithoutRetries {
  std::vector<Hits> hits;  // of kBesideRuns, in each disturbance; empty: interrupted

  bool blames_policy(std::size_t disturbance) const {
    return hits[disturbance].down + hits[disturbance].open == 0;
  }
};

WithoutRetries run_without_retries(const PolicyToRun& policy, const Study& study,
                                   const StudyOptions& options, const NamedOptions& given) {
  WithoutRetries result;
  for (const StudyDisturbance& disturbance : disturbances()) {
    ScenarioOptions scenario = scenario_with(policy, policy.settings, disturbance, options, given);
    scenario.workload.retry.limit.max_retries = 0;
    const Runs runs = study.run_beside(scenario, kBesideRuns);
    if (runs.empty()) return {};
    result.hits.push_back(hits_of(runs, nullptr));
  }
  return result;
}

// The least change to a policy with which the service is not down in any of some runs, where it is not so
// without retries either.
void print_change_to_try(const std::string& label, const PolicyToRun& policy, const Plan& plan,
                         std::size_t first, const Study::Runs& runs, const Study& study,
                         const StudyOptions& options, const NamedOptions& given) {
  const WithoutRetries none = run_without_retries(policy, study, options, given);
  if (none.hits.empty()) return;
  std::string beyond;
  bool to_blame = false, down = false;
  double share = 1;  // the least share of runs that are to go
  for (std::size_t i = 0; i < disturbances().size(); ++i) {
    const Hits hits = hits_of(runs[plan.cells[first + i].now], nullptr);
    if (hits.down + hits.open == 0) continue;
    if (none.blames_policy(i)) {
      to_blame = true;
      share = std::min(share, static_cast<double>(hits.down + hits.open) /
                                  static_cast<double>(runs[plan.cells[first + i].now].size()));
      continue;
    }
    down |= none.hits[i].down > 0;
    beyond += (beyond.empty() ? "" : ", ") + std::string(disturbances()[i].title) + " (" +
              (none.hits[i].down > 0 ? std::to_string(none.hits[i].down) + " down"
                                     : std::to_string(none.hits[i].open) + " still recovering") +
              " of " + std::to_string(kBesideRuns) + ")";
  }
  print_note(std::cout,
             label + "no policy helps, for it is so without any retries" +
                 (down ? " (see retrystorm remedies)" : " (a longer --observe decides)"),
             beyond);
  if (!to_blame) return;
  // Where a share p of the runs is down, none of 3 / p is with a probability of 5 %: fewer runs tell nothing.
  const std::size_t enough =
      std::max(kBesideRuns, std::min(options.runs, static_cast<std::size_t>(std::ceil(3 / share))));
  std::string in_vain;
  for (const PolicyChange& change : changes_to(policy.settings, *policy.format)) {
    bool helps = true;
    for (std::size_t i = 0; i < disturbances().size() && helps; ++i) {
      const Runs changed = study.run_beside(
          scenario_with(policy, change.settings, disturbances()[i], options, given),
          none.blames_policy(i) ? enough : kBesideRuns);
      if (changed.empty()) return;
      const Hits hits = hits_of(changed, nullptr);
      helps = none.blames_policy(i) ? hits.down + hits.open == 0 : hits.down <= none.hits[i].down;
    }
    if (!helps) {
      in_vain += (in_vain.empty() ? "" : ", ") + change.title;
      continue;
    }
    std::cout << label << "try: write this, " << change.title << " (0 of " << enough
              << " runs are down in each " << (beyond.empty() ? "" : "other ")
              << "disturbance, so at most " << percent(greatest_share(0, enough), 2) << "):\n";
    for (const std::string& line : change.lines) std::cout << "    " << line << '\n';
    PolicyToRun changed = policy;
    changed.settings = change.settings;
    for (const StudyDisturbance& disturbance : disturbances()) {
      if (!disturbance.outage) continue;
      const std::string other = other_backlog(changed, disturbance, study, options, given);
      if (other.empty()) continue;
      print_note(std::cout, "  but that is not enough with every backlog", other);
      return;
    }
    return;
  }
  print_note(std::cout, label + "try",
             "retrystorm remedies, for these changes of the file do not help: " + in_vain);
}

}  // namespace

int run_policies(const Invocation& invocation, const StudyOptions& options,
                 const std::vector<PolicyCase>& cases, const NamedOptions& given, bool markdown,
                 const std::function<void(JsonLines&)>& before_runs) {
  const Plan plan = plan_of(options, cases, given);
  const bool of_changes = std::any_of(
      cases.begin(), cases.end(), [](const PolicyCase& each) { return each.before.has_value(); });
  const Judge judge(options);
  Study study(invocation, options, {"policy", "disturbance"}, plan.study);
  before_runs(study.json());
  // What is no table is as in a terminal.
  const char* const fence = markdown ? "```\n" : "";
  constexpr std::size_t kMostTold = 30;
  std::vector<std::size_t> told;
  for (const Cell& each : plan.cells) {
    if (each.outage() && told.size() < kMostTold) told.push_back(each.now);
  }
  study.tell_outlook(invocation, told, set_by_all(cases));
  const auto judgements = [&](const Study::Runs& runs, const Cell& cell) {
    return judge.judge_runs(runs[cell.now], cell.before ? &runs[*cell.before] : nullptr);
  };
  // Whether a claim about the policy of this cell is broken, in any disturbance.
  const auto is_over = [&](const Study::Runs& runs, std::size_t number) {
    const std::size_t first = number - number % disturbances().size();
    for (std::size_t i = first; i < first + disturbances().size(); ++i) {
      for (const Accepted& each : judgements(runs, plan.cells[i])) {
        if (each.judgement.finding == Finding::kBroken) return true;
      }
    }
    return false;
  };
  const Study::Runs runs = study.run_in_rounds([&](const Study::Runs& so_far) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < plan.cells.size(); ++i) {
      const auto now = judgements(so_far, plan.cells[i]);
      const bool certain =
          std::all_of(now.begin(), now.end(), [](const Accepted& each) { return each.certain; });
      if (certain || is_over(so_far, i)) continue;
      open.push_back(plan.cells[i].now);
      if (plan.cells[i].before) open.push_back(*plan.cells[i].before);
    }
    return open;
  });
  Table table = table_of(of_changes, cases.size() > 1);
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    const Cell& cell = plan.cells[i];
    const Runs& now = runs[cell.now];
    if (now.empty()) continue;
    const Runs* before = cell.before ? &runs[*cell.before] : nullptr;
    const Hits hits = hits_of(now, before);
    std::vector<std::string> row = plan.study[cell.now].labels;
    if (cases.size() == 1) row.erase(row.begin());
    row.push_back(down_of(now, before));
    if (of_changes) row.push_back(before == nullptr ? "-" : std::to_string(hits.down));
    row.push_back(percent(greatest_share(hits.down + hits.open, now.size()), 2));
    std::vector<std::string> figures = figures_of(cell, now);
    if (before != nullptr) {
      const std::vector<std::string> old = figures_of(cell, *before);
      for (std::size_t f = 0; f < figures.size(); ++f) {
        if (old[f] != figures[f]) figures[f] = old[f] + " -> " + figures[f];
      }
      study.write_row(*cell.before, summarize(*before));
    }
    row.insert(row.end(), figures.begin(), figures.end());
    table.rows.push_back(std::move(row));
    study.write_row(cell.now, summarize(now));
    std::vector<Judgement> judged;
    for (Accepted& each : judgements(runs, cell)) {
      each.judgement.stopped = each.judgement.finding == Finding::kUndecided && is_over(runs, i);
      judged.push_back(std::move(each.judgement));
    }
    study.judge(cell.now, std::move(judged));
  }
  std::cout << fence;
  print_overruling(given, "every policy");
  const bool multiplexed = std::any_of(
      cases.begin(), cases.end(), [](const PolicyCase& each) { return each.policy.multiplexed; });
  if (multiplexed && !given.contains("connections")) {
    std::cout << kRunMultiplexed << '\n';
  }
  judge.print_plans(of_changes);
  if (table.rows.empty()) {
    std::cout << "No disturbance has had its first runs: nothing can be said yet.\n";
  } else {
    study.show(table, markdown);
  }
  const bool open = std::any_of(plan.cells.begin(), plan.cells.end(), [&](const Cell& cell) {
    return hits_of(runs[cell.now], nullptr).open > 0;
  });
  if (open) {
    std::cout
        << "open: neither down nor back at the end, so that \"at most\" counts them as down\n";
  }
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const PolicyToRun& policy = cases[i].policy;
    const std::string label = cases.size() > 1 ? policy.name + ": " : "";
    const std::size_t first = i * disturbances().size();
    print_not_retried(label, plan, first, runs);
    // Or not back in time.
    const auto is_down_in = [&](const Cell& cell) {
      const Hits hits = hits_of(runs[cell.now], nullptr);
      return hits.down + hits.open > 0;
    };
    const auto cells = std::next(plan.cells.begin(), static_cast<std::ptrdiff_t>(first));
    const auto last = std::next(cells, std::ssize(disturbances()));
    const auto holds_in = [&](const Cell& cell) {
      const auto all = judgements(runs, cell);
      return std::all_of(all.begin(), all.end(), [](const Accepted& each) {
        return each.judgement.finding == Finding::kHolds;
      });
    };
    if (!cases[i].before) {
      const WithoutBudget free =
          print_budget(label, policy, plan, first, runs, study, options, given);
      print_token_ratio(label, policy, plan, first, runs, study, options, given, free);
      if (std::all_of(cells, last, holds_in)) {
        print_weakest(label, free.costs ? " for storms" : "", policy, plan, first, runs, study,
                      options, given);
      }
    }
    const auto is_mostly_down = [&](const Cell& cell) {
      const Hits hits = hits_of(runs[cell.now], nullptr);
      return is_majority(hits.down + hits.open, runs[cell.now].size());
    };
    if (std::any_of(cells, last, is_mostly_down)) {
      print_abandoned(label, policy, study, options, given);
    }
    if (policy.format && !std::all_of(cells, last, holds_in) &&
        std::any_of(cells, last, is_down_in)) {
      print_change_to_try(label, policy, plan, first, runs, study, options, given);
    }
  }
  return study.finish(fence);
}

}  // namespace retrystorm
