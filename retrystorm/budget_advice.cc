// What `retrystorm check` says of a policy's retry budget.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <utility>

#include "model/base/text.h"
#include "retrystorm/policy_advice.h"
#include "study/fitted_table.h"
#include "study/process_trial.h"

namespace retrystorm {
namespace {

Runs at_most(const Runs& runs, std::size_t count) {
  const auto end = static_cast<std::ptrdiff_t>(std::min(count, runs.size()));
  return {runs.begin(), runs.begin() + end};
}

// A share of the requests that nobody misses.
constexpr double kNextToNone = 0.001;

// Ratios that people write, with a tenth and more to spare, the least first.
std::vector<double> round_ratios(double needed) {
  std::vector<double> ratios;
  for (const double unit : {0.01, 0.1, 1.0}) {
    for (const double each : {1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0}) {
      const double ratio = to_digits(each * unit, 2);
      if (ratio >= 1.1 * needed && ratio <= 4 * needed) ratios.push_back(ratio);
    }
  }
  return ratios;
}

}  // namespace

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
  const Outlook ahead = look_ahead(its);
  const BudgetSettings& budget = its.workload.retry.process.budget;
  BudgetSettings gives_nothing = budget;
  gives_nothing.deposit = 0;
  const auto tokens_lost_by = [&](const BudgetSettings& each) {
    return tokens_lost(each, error_share(at), ahead.retries.attempts) * ahead.wanted /
           static_cast<double>(process_count(its.workload));
  };
  const double failures = tokens_lost_by(gives_nothing), lost = tokens_lost_by(budget);
  if (given_.contains("budget-tokens") || budget.tokens >= kMost || !(lost > 0)) return;
  const auto lasts = [&](double tokens) {
    return "about " + readable(from_seconds(budget.threshold * tokens / lost));
  };
  std::cout << wrapped(label_,
                       "or a larger maxTokens, if such errors end soon: " + readable(failures) +
                           " failures/s less " + readable(failures - lost) +
                           " tokens/s for successes take " + readable(lost) +
                           " tokens/s in each process, so that retries stop at half of the " +
                           print_number(budget.tokens) + " after " + lasts(budget.tokens) +
                           "; with 1000, the most of gRPC, after " + lasts(kMost),
                       2);
}

// The least of the round ratios with which gRPC's throttle fails next to no request that retries would have saved,
// in these errors. A small maxTokens needs more than the ratio of a steady share, for the
// failures come at random. No disturbance may come of it worse. `free`: the success without a budget.
void PolicyAdvice::print_token_ratio(std::size_t at, const std::vector<double>& free) const {
  const auto ratio = policy_.settings.find("budget-deposit");
  if (ratio == policy_.settings.end() || given_.contains("budget-deposit")) return;
  const auto& all = disturbances_;
  const StudyDisturbance& errors = all[at];
  const std::string success = success_text(success_in(errors, summarize(*runs_[at])));
  const double needed =
      even_deposit(scenario(policy_.settings, at).workload.retry.process.budget, error_share(at));
  const std::vector<double> ratios = round_ratios(needed);
  for (auto each = ratios.begin(); each != ratios.end(); ++each) {
    if (*each <= std::stod(ratio->second)) continue;
    NamedOptions changed = policy_.settings;
    changed["budget-deposit"] = print_number(*each);
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
    std::cout << wrapped(label_,
                         "try: write this into retryThrottling (" + success_text(now) +
                             " of the requests succeed in " + errors.title + " instead of " +
                             success +
                             ", and no more runs are down in any disturbance; a share p of errors "
                             "needs a tokenRatio above p / (1 - p) = " +
                             print_number(to_digits(needed, 2)) + "):",
                         2)
              << "    \"tokenRatio\": " << changed["budget-deposit"] << '\n';
    // A larger ratio, if one is needed, with other numbers of processes.
    std::string others;
    for (ScenarioOptions other : with_other_processes(scenario(changed, at), given_)) {
      std::string enough = "more than " + print_number(ratios.back());
      for (auto larger = each; larger != ratios.end(); ++larger) {
        other.workload.retry.process.budget.deposit = *larger;
        const Runs runs = study_.run_beside(other, with.size());
        if (runs.empty()) return;
        if (free[at] - success_in(errors, summarize(runs)) >= kNextToNone) continue;
        enough = print_number(*larger);
        break;
      }
      add_to_list(others,
                  enough + " with --processes=" + std::to_string(*other.workload.processes));
    }
    if (!others.empty()) {
      std::cout << "  (with --processes=" << process_count(scenario(policy_.settings, at).workload)
                << " by default, give yours: it takes a tokenRatio of " << others << ")\n";
    }
    return;
  }
}

}  // namespace retrystorm
