#include "retrystorm/policy_runs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <iostream>
#include <span>
#include <stdexcept>
#include <utility>

#include "common/output/json_text.h"
#include "model/base/text.h"
#include "retrystorm/policy_advice.h"
#include "study/acceptance.h"
#include "study/fitted_table.h"
#include "study/judged_runs.h"

namespace retrystorm {
namespace {

// The plan for a claim such as down<1%; nothing for other claims, which take all runs.
std::optional<Acceptance> plan_for(const Expectation& claim, std::size_t runs) {
  const bool is_limit = claim.relation == Expectation::Relation::kBelow ||
                        claim.relation == Expectation::Relation::kAtMost;
  if (claim.verdict || claim.figure != "down" || !is_limit || claim.bound <= 0) return std::nullopt;
  const auto plan = acceptance(runs, claim.bound);
  if (plan) return plan;
  std::string text = "--runs: " + std::to_string(runs) + " runs cannot show " + claim.text +
                     ": at least " + std::to_string(least_runs(claim.bound)) + " are needed";
  for (const double less : {0.02, 0.05, 0.1, 0.2, 0.5}) {
    if (least_runs(less) > runs) continue;
    text += "; so many can show --expect='down<" + print_number(100 * less) + "%'";
    break;
  }
  throw std::invalid_argument(text + " (without --expect it is down<1%)");
}

// Says on which load and service the figures stand, and what of that was not given.
void print_premises(const Invocation& invocation, const std::vector<OutlookOfRow>& rows,
                    const std::vector<std::string>& set_by_policies) {
  constexpr std::array<std::string_view, 9> kPremises{
      "service", "service-time", "workers", "arrivals",    "clients",
      "lambda",  "rate",         "backlog", "connections",
  };
  const Outlook& first = rows.front().outlook;
  std::string assumed;
  for (const auto& [name, value] :
       assumed_options(invocation.app, options_json(invocation.app), rows, set_by_policies)) {
    if (std::find(kPremises.begin(), kPremises.end(), name) == kPremises.end()) continue;
    assumed += (assumed.empty() ? "" : ", ") + ("--" + name + '=' + value);
  }
  const std::string given = "run at " + readable(first.wanted) + "/s on a service of up to " +
                            readable(first.service->capacity) + "/s";
  if (assumed.empty()) std::cout << given << '\n';
  print_note(std::cout, given + ", and by default", assumed);
}

// A policy in a disturbance.
struct Cell {
  std::size_t now = 0;                  // its cell in the study
  std::optional<std::size_t> before{};  // that of the policy before
  const StudyDisturbance* disturbance = nullptr;

  bool outage() const { return disturbance->outage; }
};

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

  std::vector<Accepted> judge_runs(const Cell& cell, const Runs& now, const Runs* before) const {
    const bool all = now.size() == options_.runs;
    const Hits hits = hits_of(now, before);
    std::vector<Accepted> result(plans_.size());
    std::vector<Judgement> after_all;
    std::vector<Expectation> claims = options_.expectations;
    for (Expectation& each : claims) {  // errors last for the whole run
      if (!cell.outage() && each.figure == "success_during") each.figure = "success_share";
    }
    if (all) after_all = judge_once(now, claims);
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      if (plans_[i]) {
        result[i] = judge(*plans_[i], now.size(), hits.down, hits.open);
        // More time helps only those that are recovering.
        Judgement& judgement = result[i].judgement;
        if (judgement.recovering > 0) {
          judgement.undecided = hits.undecided;
          judgement.recovering -= hits.undecided;
        }
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

Plan plan_of(const StudyOptions& options, const std::vector<PolicyCase>& cases,
             const std::vector<StudyDisturbance>& disturbances, const NamedOptions& given) {
  Plan plan;
  for (const PolicyCase& each : cases) {
    for (const StudyDisturbance& disturbance : disturbances) {
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

// The options of all runs as they were typed, so that `simulate` makes them, too.
std::string as_words(const Invocation& invocation, const NamedOptions& given) {
  const CLI::Option* config = find_option(invocation.app, "config");
  std::string words;
  if (config != nullptr && config->count() > 0) words = " --config=" + shell_word(text_of(*config));
  for (const auto& [name, value] : given) {
    if (name == "observe" || name == "outage-at") continue;  // of each disturbance
    if (!words.empty() && !is_typed(*find_option(invocation.app, name), invocation.arguments)) {
      continue;
    }
    words += " --" + name + '=' + shell_word(value);
  }
  return words;
}

}  // namespace

int run_policies(const Invocation& invocation, const StudyOptions& options,
                 const std::vector<PolicyCase>& cases,
                 const std::vector<StudyDisturbance>& disturbances, const NamedOptions& given,
                 bool markdown, const std::function<void(JsonLines&)>& before_runs) {
  const Plan plan = plan_of(options, cases, disturbances, given);
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
    return judge.judge_runs(cell, runs[cell.now], cell.before ? &runs[*cell.before] : nullptr);
  };
  // Whether a claim about the policy of this cell is broken, in any disturbance.
  const auto is_over = [&](const Study::Runs& runs, std::size_t number) {
    const std::size_t first = number - number % disturbances.size();
    for (std::size_t i = first; i < first + disturbances.size(); ++i) {
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
  std::vector<OutlookOfRow> rows;
  for (const std::size_t each : told) rows.push_back({"", look_ahead(plan.study[each].options)});
  print_premises(invocation, rows, set_by_all(cases));
  judge.print_plans(of_changes);
  if (table.rows.empty()) {
    std::cout << "No disturbance has had its first runs: nothing can be said yet.\n";
  } else {
    study.show(table, markdown);
  }
  const bool open = std::any_of(plan.cells.begin(), plan.cells.end(),
                                [&](const Cell& cell) { return hits_of(runs[cell.now]).open > 0; });
  if (open) {
    std::cout
        << "open: neither down nor back at the end, so that \"at most\" counts them as down\n";
  }
  const std::string words = as_words(invocation, given);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::span<const Cell> cells(&plan.cells[i * disturbances.size()], disturbances.size());
    std::vector<const Runs*> all;
    for (const Cell& each : cells) all.push_back(&runs[each.now]);
    const PolicyToRun& policy = cases[i].policy;
    PolicyAdvice advice(cases.size() > 1 ? policy.name + ": " : "", policy, disturbances, all,
                        study, options, given, words);
    const bool hold = std::all_of(cells.begin(), cells.end(), [&](const Cell& cell) {
      const auto judged = judgements(runs, cell);
      return std::all_of(judged.begin(), judged.end(), [](const Accepted& each) {
        return each.judgement.finding == Finding::kHolds;
      });
    });
    advice.print_not_retried();
    if (!cases[i].before) {
      advice.print_budget();
      advice.try_others(hold);
      if (hold) advice.print_nothing_to_change();
    }
    // Or not back in time.
    const auto hits = [](const Runs* each) { return hits_of(*each).all(); };
    if (std::any_of(all.begin(), all.end(),
                    [&](const Runs* each) { return is_majority(hits(each), each->size()); })) {
      advice.print_service_changes();
    }
    if (policy.format && !hold && std::any_of(all.begin(), all.end(), hits)) {
      advice.print_change_to_try();
    }
    if (!cases[i].before) advice.print_others();
    if (!markdown) advice.print_command();
  }
  return study.finish(fence);
}

}  // namespace retrystorm
