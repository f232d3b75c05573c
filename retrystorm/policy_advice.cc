#include "retrystorm/policy_advice.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <iterator>
#include <utility>

#include "common/output/json_text.h"
#include "model/base/text.h"
#include "policies/changes.h"
#include "study/acceptance.h"
#include "study/fitted_table.h"
#include "study/process_trial.h"
#include "study/trial_lines.h"

namespace retrystorm {
namespace {

Runs at_most(const Runs& runs, std::size_t count) {
  const auto end = static_cast<std::ptrdiff_t>(std::min(count, runs.size()));
  return {runs.begin(), runs.begin() + end};
}

// A share of the requests that nobody misses.
constexpr double kNextToNone = 0.001;

void add_to_list(std::string& list, const std::string& text) {
  list += (list.empty() ? "" : ", ") + text;
}

}  // namespace

PolicyAdvice::PolicyAdvice(std::string label, const PolicyToRun& policy,
                           const std::vector<StudyDisturbance>& disturbances,
                           std::vector<const Runs*> runs, const Study& study,
                           const StudyOptions& options, const NamedOptions& given,
                           const std::string& words)
    : label_(std::move(label)),
      policy_(policy),
      disturbances_(disturbances),
      runs_(std::move(runs)),
      study_(study),
      options_(options),
      given_(given),
      words_(words),
      worst_(worst()) {}

ScenarioOptions PolicyAdvice::scenario(const NamedOptions& settings,
                                       std::size_t disturbance) const {
  return scenario_with(policy_, settings, disturbances_[disturbance], options_, given_);
}

Runs PolicyAdvice::run_with(const NamedOptions& settings, std::size_t disturbance,
                            std::size_t runs) const {
  return study_.run_beside(scenario(settings, disturbance), runs);
}

double PolicyAdvice::error_share(std::size_t disturbance) const {
  const ScenarioOptions its = scenario(policy_.settings, disturbance);
  const Disturbance& outage = its.timeline.outage;
  if (!disturbances_[disturbance].outage) return its.service.errors.share;
  return outage.kind == Disturbance::Kind::kErrors ? outage.value : 0;
}

void PolicyAdvice::print_not_retried() const {
  std::string names;
  bool hangs = false;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i]->empty()) continue;
    const CellResult result = summarize(*runs_[i]);
    if (result.nothing_retried == 0) continue;
    add_to_list(names, disturbances_[i].title + " (" + to_string(result.not_retryable) + ')');
    hangs |= look_ahead(scenario(policy_.settings, i)).hangs_on_rejections();
  }
  print_note(std::cout, label_ + "nothing was retried, these failures are not retryable", names);
  if (hangs) {
    std::cout << "  Only errors are retried. They decide where a service turns requests away: give "
                 "--queue-length\n  and --rejection-cost\n";
  }
}

void PolicyAdvice::print_budget() {
  const auto budget = policy_.settings.find("retry-budget");
  if (budget == policy_.settings.end() || budget->second == "none") return;
  if (given_.contains("retry-budget") || given_.contains("strategy")) return;
  NamedOptions without = policy_.settings;
  std::erase_if(without, [](const auto& each) { return each.first.starts_with("budget-"); });
  without["retry-budget"] = "none";
  std::vector<double> success;  // without it, in each disturbance
  std::string costs, saves;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const Runs with = at_most(*runs_[i], kBesideRuns);
    if (with.empty()) return;
    const StudyDisturbance& disturbance = disturbances_[i];
    const Runs free = run_with(without, i, with.size());
    if (free.empty()) return;
    success.push_back(success_in(disturbance, summarize(free)));
    const double lost = success.back() - success_in(disturbance, summarize(with));
    if (down_runs(free) > down_runs(with)) {
      add_to_list(saves, disturbance.title);
    } else if (lost >= 0.00005) {
      add_to_list(costs, disturbance.title + ' ' + percent(lost, 2));
    }
  }
  const std::string name = label_ + "retry budget " + budget->second;
  print_note(std::cout, name + " fails requests that retries would have saved", costs);
  print_note(std::cout, name + " keeps the service from going down", saves);
  if (costs.empty() && saves.empty()) {
    std::cout << name << " makes no difference in these disturbances\n";
  }
  budget_costs_ = !costs.empty();
  print_other_processes();
  if (!budget_costs_) return;
  if (const auto errors = throttled_errors(success)) {
    print_token_ratio(*errors, success);
    print_max_tokens(*errors);
  }
}

// Where the budget has another effect if it is in more or fewer processes.
void PolicyAdvice::print_other_processes() {
  processes_tried_ = true;
  constexpr double kClearly = 0.01;  // of the requests
  std::vector<std::pair<std::string, std::string>> found;
  for (std::size_t i = 0; i < disturbances_.size(); ++i) {
    const StudyDisturbance& disturbance = disturbances_[i];
    const CellResult asked = summarize(at_most(*runs_[i], kBesideRuns));
    for (const ScenarioOptions& other :
         with_other_processes(scenario(policy_.settings, i), given_)) {
      const Runs runs = study_.run_beside(other, std::min(kBesideRuns, runs_[i]->size()));
      if (runs.empty()) return;
      const CellResult result = summarize(runs);
      std::string text;
      if (result.mostly_not_back() != asked.mostly_not_back()) {
        processes_decide_ = true;
        text = std::to_string(hits_of(runs).all()) + " of " + std::to_string(runs.size()) +
               " runs down, or not back in time";
      } else if (const double now = success_in(disturbance, result);
                 !disturbance.outage &&
                 std::abs(now - success_in(disturbance, asked)) >= kClearly) {
        text = success_text(now) + " of the requests succeed";
      }
      const std::string name = "--processes=" + std::to_string(*other.workload.processes);
      const auto at = std::find_if(found.begin(), found.end(),
                                   [&name](const auto& each) { return each.first == name; });
      std::string& list = at == found.end() ? found.emplace_back(name, "").second : at->second;
      if (!text.empty()) add_to_list(list, text + " (" + disturbance.title + ')');
    }
  }
  for (const auto& [name, list] : found) {
    print_note(std::cout, label_ + "with " + name,
               list.empty() ? "no disturbance ends otherwise" : list);
  }
}

// The errors, those of the reader's own first, in which gRPC's throttle fails requests that retries would have saved.
// `free`: the success without a budget, in each disturbance.
std::optional<std::size_t> PolicyAdvice::throttled_errors(const std::vector<double>& free) const {
  if (!policy_.multiplexed || policy_.settings.at("retry-budget") != "grpc") return std::nullopt;
  std::size_t at = 0;
  while (at < runs_.size() && error_share(at) == 0) ++at;
  if (at == runs_.size() || error_share(at) >= 1) return std::nullopt;
  const double success = success_in(disturbances_[at], summarize(at_most(*runs_[at], kBesideRuns)));
  return free[at] - success < kNextToNone ? std::nullopt : std::optional(at);
}

// Errors of a short time end before a large bucket is empty.
void PolicyAdvice::print_max_tokens(std::size_t at) const {
  constexpr double kMost = 1000;  // of gRPC
  const ScenarioOptions its = scenario(policy_.settings, at);
  const BudgetSettings& budget = its.workload.retry.process.budget;
  const double failures =
      error_share(at) * look_ahead(its).wanted / static_cast<double>(process_count(its.workload));
  if (given_.contains("budget-tokens") || budget.tokens >= kMost || !(failures > 0)) return;
  const auto lasts = [&](double tokens) {
    return readable(from_seconds(budget.threshold * tokens / failures));
  };
  std::cout << label_ << "or a larger maxTokens, if such errors end soon: half of the "
            << print_number(budget.tokens) << " tokens / " << readable(failures)
            << " failures/s\n  in each process = " << lasts(budget.tokens)
            << " until retries stop, at the earliest; with 1000, the most of gRPC, " << lasts(kMost)
            << '\n';
}

// The least of a few ratios with which gRPC's throttle fails next to no request that retries would have saved,
// in these errors. A small maxTokens needs more than the ratio of a steady share, for the
// failures come at random. No disturbance may come of it worse. `free`: the success without a budget.
void PolicyAdvice::print_token_ratio(std::size_t at, const std::vector<double>& free) const {
  const auto ratio = policy_.settings.find("budget-deposit");
  if (ratio == policy_.settings.end() || given_.contains("budget-deposit")) return;
  const auto& all = disturbances_;
  const StudyDisturbance& errors = all[at];
  const double share = error_share(at);
  const std::string success = success_text(success_in(errors, summarize(*runs_[at])));
  const BudgetSettings& budget = scenario(policy_.settings, at).workload.retry.process.budget;
  // gRPC counts in thousandths of a token.
  const double least = std::ceil(even_deposit(budget, share) * 1000) / 1000;
  for (const double each : {least, 0.25, 0.5, 1.0}) {
    if (each <= std::stod(ratio->second)) continue;
    NamedOptions changed = policy_.settings;
    changed["budget-deposit"] = print_number(each);
    // As many as the file itself has, so that what is down can be compared.
    const auto run = [&](std::size_t i) {
      return run_with(changed, i, std::min(kBesideRuns, runs_[i]->size()));
    };
    const Runs with = run(at);
    if (with.empty()) return;
    const double now = success_in(errors, summarize(with));
    if (free[at] - now >= kNextToNone) continue;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Runs other = run(i);
      if (other.empty()) return;
      const Hits old = hits_of(at_most(*runs_[i], kBesideRuns)), hits = hits_of(other);
      // A larger ratio lets more retries through: no still larger one is tried.
      if (hits.down > old.down || hits.all() > old.all()) return;
    }
    std::cout
        << label_ << "try: write this into retryThrottling (" << success_text(now)
        << " of the requests succeed in " << errors.title << " instead of " << success
        << ",\n  and no more runs are down in any disturbance; a share p of errors needs more than p / (1 - p)):\n    \"tokenRatio\": "
        << changed["budget-deposit"] << '\n';
    // A larger ratio, if one is needed, with other numbers of processes.
    std::string others;
    for (const ScenarioOptions& other : with_other_processes(scenario(changed, at), given_)) {
      ScenarioOptions larger = other;
      BudgetSettings& its = larger.workload.retry.process.budget;
      std::string needed = "more than 1";
      for (const double factor : {1.0, 1.1, 1.25, 1.5, 2.0, 4.0}) {
        its.deposit = to_digits(std::min(each * factor, 1.0), 2);
        const Runs runs = study_.run_beside(larger, with.size());
        if (runs.empty()) return;
        if (free[at] - success_in(errors, summarize(runs)) >= kNextToNone) continue;
        needed = print_number(its.deposit);
        break;
      }
      add_to_list(others,
                  needed + " with --processes=" + std::to_string(*other.workload.processes));
    }
    if (!others.empty()) {
      std::cout << "  (with --processes=" << process_count(scenario(policy_.settings, at).workload)
                << " by default, give yours: it takes " << others << ")\n";
    }
    return;
  }
}

// Where most runs are down, or not back in time; if none is, the outage after which it takes longest to be back.
std::size_t PolicyAdvice::worst() const {
  std::size_t worst = 0, most = 0;
  Duration longest{-1};
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const std::size_t hits = hits_of(*runs_[i]).all();
    const auto back = summarize(*runs_[i]).recovery_median;
    const bool latest =
        hits == 0 && most == 0 && disturbances_[i].outage && back && *back >= longest;
    if (latest) longest = *back;
    if (latest || hits > most) worst = i;
    most = std::max(most, hits);
  }
  return worst;
}

AnswerTrials PolicyAdvice::trials_of(const NamedOptions& settings, const CellResult& result) const {
  NamedOptions given = given_;
  // Other lines tell of these.
  given.emplace("abandoned", "");
  if (processes_tried_) given.emplace("processes", "");
  const ScenarioOptions options = scenario(settings, worst_);
  return AnswerTrials({options, given, result, holding_}, study_.evaluator(), study_.seed(),
                      kBesideRuns);
}

void PolicyAdvice::try_others(bool hold) {
  if (hold) holding_ = options_.expectations;
  trials_.emplace(trials_of(policy_.settings, summarize(*runs_[worst_])));
}

void PolicyAdvice::print_others() const {
  JsonLines none("");
  tell_trials({{label_ + disturbances_[worst_].title, *trials_}}, none);
}

void PolicyAdvice::print_nothing_to_change() const {
  std::size_t all = 0;
  std::string text;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const StudyDisturbance& disturbance = disturbances_[i];
    const Runs& now = *runs_[i];
    if (now.empty() || hits_of(now).all() > 0) return;
    all += now.size();
    const CellResult result = summarize(now);
    if (error_share(i) == 0) continue;
    add_to_list(text, success_text(success_in(disturbance, result)) +
                          " of the requests succeed in " + disturbance.title);
  }
  const auto back = summarize(*runs_[worst_]).recovery_median;
  if (disturbances_[worst_].outage && back) {
    text =
        (*back > Duration::zero() ? "at the latest the service is back after " + readable(*back) +
                                        " (" + disturbances_[worst_].title + ')'
                                  : "the service is back at once") +
        (text.empty() ? "" : ", ") + text;
  }
  std::string name = label_ + "nothing to change" + (budget_costs_ ? " for storms" : "");
  if (processes_decide_) {
    const std::size_t count = process_count(scenario(policy_.settings, 0).workload);
    name += " with --processes=" + std::to_string(count);
  }
  if (trials_->hangs()) name += " (but see below)";
  print_note(std::cout, name, "none of " + std::to_string(all) + " runs is down; " + text);
}

void PolicyAdvice::print_service_changes() const {
  std::vector<TitledScenario> all;
  for (std::size_t i = 0; i < disturbances_.size(); ++i) {
    all.push_back({disturbances_[i].title, scenario(policy_.settings, i)});
  }
  retrystorm::print_service_changes(study_, label_, all, given_);
}

void PolicyAdvice::print_change_to_try() const {
  // Where the service is down, or not back in time, without any retries, no policy is to blame.
  const bool hedged = scenario(policy_.settings, 0).workload.retry.hedge.any();
  std::vector<Hits> none;
  std::string overloaded;  // the calm before an outage
  for (std::size_t i = 0; i < disturbances_.size(); ++i) {
    ScenarioOptions without = scenario(policy_.settings, i);
    send_once(without);
    const Runs runs = study_.run_beside(without, kBesideRuns);
    if (runs.empty()) return;
    none.push_back(hits_of(runs));
    if (!disturbances_[i].outage || !overloaded.empty() || runs_[i]->empty()) continue;
    constexpr double kHalf = 0.5;
    const double with = summarize(*runs_[i]).phases[0].success.value_or(1);
    const double once = summarize(runs).phases[0].success.value_or(0);
    if (with >= kHalf || once < kHalf) continue;
    overloaded = success_text(with) + " of the requests succeed before it, and " +
                 success_text(once) + " without them";
  }
  print_note(
      std::cout,
      label_ + (hedged ? "its hedges" : "its retries") + " overload the service before any outage",
      overloaded);
  const auto blames_policy = [&none](std::size_t i) { return none[i].all() == 0; };
  std::string beyond;
  bool to_blame = false, down = false;
  double share = 1;  // the least share of runs that are to go
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const std::size_t hits = hits_of(*runs_[i]).all();
    if (hits == 0) continue;
    if (blames_policy(i)) {
      to_blame = true;
      share = std::min(share, static_cast<double>(hits) / static_cast<double>(runs_[i]->size()));
      continue;
    }
    down |= none[i].down > 0;
    add_to_list(beyond,
                disturbances_[i].title + " (" +
                    (none[i].down > 0 ? std::to_string(none[i].down) + " down"
                                      : std::to_string(none[i].open) + " still recovering") +
                    " of " + std::to_string(kBesideRuns) + ")");
  }
  print_note(std::cout,
             label_ + "no policy helps, for it is so without any retries" +
                 (hedged ? " or hedges" : "") +
                 (down ? " (see retrystorm remedies)" : " (a longer --observe decides)"),
             beyond);
  if (!to_blame) return;
  // Where a share p of the runs is down, none of 3 / p is with a probability of 5 %: fewer runs tell nothing.
  const std::size_t enough = std::max(
      kBesideRuns, std::min(options_.runs, static_cast<std::size_t>(std::ceil(3 / share))));
  std::string in_vain;
  for (const PolicyChange& change : changes_to(policy_.settings, *policy_.format, policy_.names)) {
    bool helps = true;
    for (std::size_t i = 0; i < runs_.size() && helps; ++i) {
      const Runs changed = run_with(change.settings, i, blames_policy(i) ? enough : kBesideRuns);
      if (changed.empty()) return;
      const Hits hits = hits_of(changed);
      helps = blames_policy(i) ? hits.all() == 0 : hits.down <= none[i].down;
    }
    if (!helps) {
      add_to_list(in_vain, change.title);
      continue;
    }
    std::cout << label_ << "try: write this, " << change.title << " (0 of " << enough
              << " runs are down in each " << (beyond.empty() ? "" : "other ")
              << "disturbance, so at most " << percent(greatest_share(0, enough), 2) << "):\n";
    for (const std::string& line : change.lines) std::cout << "    " << line << '\n';
    const CellResult changed = summarize(run_with(change.settings, worst_, kBesideRuns));
    std::string others;
    for (const std::string& each : trials_of(change.settings, changed).others(false)) {
      add_to_list(others, each);
    }
    print_note(std::cout, "  but in " + disturbances_[worst_].title, others);
    return;
  }
  print_note(std::cout, label_ + "try",
             "retrystorm remedies, for these changes of the file do not help: " + in_vain);
}

void PolicyAdvice::print_command() const {
  const std::size_t runs = runs_[worst_]->size();
  // Of another strategy there is no file.
  if (runs == 0 || policy_.import.empty() || given_.contains("strategy")) return;
  const ScenarioOptions same = scenario(policy_.settings, worst_);
  std::cout << label_ << "simulate makes the runs of " << disturbances_[worst_].title << ":\n  "
            << policy_.import << " >mine.ini\n  simulate" << words_;
  for (const auto& [name, value] : disturbances_[worst_].options) {
    std::cout << " --" << name << '=' << value;
  }
  std::cout << " --outage-at=" << format_duration(options_.outage_at)
            << " --observe=" << format_duration(same.observe)
            << " --sweep strategy=mine.ini --runs=" << runs << " --seed=" << study_.seed() << '\n';
}

}  // namespace retrystorm
