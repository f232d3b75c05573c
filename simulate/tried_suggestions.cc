#include "simulate/tried_suggestions.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "common/output/fixed.h"
#include "model/base/text.h"
#include "simulate/next_to_try.h"
#include "study/cells.h"
#include "study/evaluator.h"
#include "study/fitted_table.h"

namespace retrystorm {
namespace {

constexpr std::size_t kTrialRuns = 20;

// Of a search for the limit of an option, the option.
bool names_any(std::string_view text, const std::vector<std::string>& options) {
  const auto words = split(text, ' ');
  return std::any_of(words.begin(), words.end(), [&options](std::string_view word) {
    if (!word.starts_with("--")) return false;
    word.remove_prefix(word.starts_with("--most=") ? 7 : word.starts_with("--least=") ? 8 : 2);
    const std::string_view name = word.substr(0, word.find_first_of("=,:"));
    return std::find(options.begin(), options.end(), name) != options.end();
  });
}

// The scenario of a row with other options. Nothing if they contradict it.
std::optional<ScenarioOptions> options_with(const NamedOptions& row, const NamedOptions& others) {
  std::vector<Axis> axes;
  for (const auto& [name, value] : others) axes.push_back({.name = name, .values = {value}});
  const Grid grid(std::move(axes));
  try {
    return cell_options(row, grid, grid.values(0));
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

// Runs with the seeds of the table. Nothing if it was stopped.
class Trier {
 public:
  Trier(const CampaignOptions& campaign, const std::function<bool()>& stop)
      : campaign_(campaign), evaluator_(campaign.threads, stop) {}

  std::optional<CellResult> run(const ScenarioOptions& options) const {
    const auto runs =
        evaluator_.run(make_scenario(options, campaign_.seed),
                       seeds_from(campaign_.seed, std::min(campaign_.runs, kTrialRuns)));
    return runs.empty() ? std::nullopt : std::optional(summarize(runs));
  }

 private:
  const CampaignOptions& campaign_;
  Evaluator evaluator_;
};

// A budget may leave less of the gain than the service has room for: what a larger one does if it is clearly
// better, or else what was `found`.
std::string larger_hedge_budget(const NamedOptions& row, const Trier& trier, CellResult best,
                                std::string found) {
  for (const double share : {0.1, 0.2}) {
    const std::size_t most = processes_with_room(scenario_of(row), share);
    const auto with = options_with(row, {{"hedge-budget", readable(share)}});
    if (most < process_count(scenario_of(row).workload) || !with) break;
    const auto now = trier.run(*with);
    if (!now || now->down_runs() > 0) break;
    constexpr double kBetter = 0.8;
    if (!now->request_p99 || !best.request_p99 ||
        to_seconds(now->request_p99->time) >= kBetter * to_seconds(best.request_p99->time)) {
      continue;
    }
    found = "--hedge-budget=" + readable(share) + room_text(most) + " (0 of " +
            std::to_string(now->decided()) + " runs down, request p99 " +
            request_time(now->request_p99) + ')';
    best = *now;
  }
  return found;
}

// Of the requests that ended and those that did not.
double success_of(const CellResult& cell) {
  return cell.success_share.value * (1 - cell.unfinished);
}

// "99.9 % succeed in the outage, not 81.2 %, and after it 99.8 %, not 75 %"
std::string success_beside(const CellResult& now, const CellResult& before) {
  const auto both = [](double some, double other) {
    const std::string text = percent(some, 2), instead = percent(other, 2);
    return text + (text == instead ? " as before" : ", not " + instead);
  };
  const auto in_phase = [&](std::size_t phase) {
    return both(now.phases[phase].success.value_or(0), before.phases[phase].success.value_or(0));
  };
  if (!now.phases[1].success || !now.phases[2].success) {
    return "success " + both(success_of(now), success_of(before));
  }
  return "success in the outage " + in_phase(1) + ", after it " + in_phase(2);
}

// What a suggestion does for runs like `before`, in words. Empty if it does not help.
std::string gain(const Suggestion& suggestion, const CellResult& now, const CellResult& before) {
  const Seen seen = seen_in(before), after = seen_in(now);
  const std::string& text = suggestion.text;
  const std::string back = now.recovery_median
                               ? "back after " + brief_duration(*now.recovery_median)
                               : "back " + std::string(now.not_back(0.5));
  if (seen.verdict == Verdict::kCollapsed) {
    const std::string down = text + " (" + std::to_string(now.down_runs()) + " of " +
                             std::to_string(now.decided()) + " runs down";
    if (after.verdict == Verdict::kRecovered) return down + ", " + back + ')';
    // Less of a gain than without may be left of hedges.
    if (after.verdict == Verdict::kNoOutage) {
      return down + ", request p99 " + request_time(now.request_p99) + ')';
    }
    return "";
  }
  if (seen.is_throttled()) {
    if (after.throttled > seen.throttled || !is_clear_gain(now, before)) return "";
    return text + " (" + fixed(100 * after.throttled, 1) +
           " % of the attempts are turned away, not " + fixed(100 * seen.throttled, 1) + "; " +
           success_beside(now, before) + "; " + fixed(now.amplification.value, 2) +
           " attempts a request, not " + fixed(before.amplification.value, 2) + ')';
  }
  if (suggestion.options.contains("budget-deposit") ||
      suggestion.options.contains("max-attempts")) {
    const auto success = [](const CellResult& cell) { return cell.phases[1].success.value_or(0); };
    if (after.verdict != Verdict::kRecovered || success(now) <= success(before)) return "";
    return text + " (" + percent(success(now), 2) + " of the requests succeed in it, not " +
           percent(success(before), 2) + ')';
  }
  if (after.verdict != Verdict::kRecovered) return "";
  return text + " (" + std::to_string(now.recovered) + " of " + std::to_string(now.runs) +
         " runs recovered, " + back + ')';
}

// The outcome that is down most where the row is not. Null if there is none.
const AnswerTrials::Outcome* worst(const AnswerTrials& trials, const CellResult& row) {
  const Verdict verdict = seen_in(row).verdict;
  if (verdict != Verdict::kRecovered && verdict != Verdict::kNoOutage) return nullptr;
  const AnswerTrials::Outcome* found = nullptr;
  for (const AnswerTrials::Outcome& each : trials.outcomes()) {
    if (!each.result.mostly_down()) continue;
    if (found == nullptr || each.result.down_runs() > found->result.down_runs()) found = &each;
  }
  return found;
}

ScenarioOptions changed(ScenarioOptions scenario, const NamedOptions& options) {
  OptionList list;
  declare_options(list, scenario);
  apply_options(list, options);
  return scenario;
}

}  // namespace

bool is_clear_gain(const CellResult& now, const CellResult& before) {
  constexpr double kClearly = 0.01;  // of the requests
  constexpr double kLonger = 1.2, kFewer = 0.9;
  bool better = false, worse = false;
  const auto compare = [&](std::optional<double> some, std::optional<double> other) {
    if (!some || !other) return;
    better |= *some > *other + kClearly;
    worse |= *some < *other - kClearly;
  };
  const auto compare_times = [&](const std::optional<TimeBound>& some,
                                 const std::optional<TimeBound>& other) {
    if (!some || !other) return;
    better |= to_seconds(other->time) > kLonger * to_seconds(some->time);
    worse |= to_seconds(some->time) > kLonger * to_seconds(other->time);
  };
  if (!now.had_outage()) compare(success_of(now), success_of(before));
  for (std::size_t i = 0; i < now.phases.size(); ++i) {
    compare(now.phases[i].success, before.phases[i].success);
    compare_times(now.phases[i].request_p50, before.phases[i].request_p50);
    compare_times(now.phases[i].request_p99, before.phases[i].request_p99);
  }
  compare_times(now.request_p50, before.request_p50);
  compare_times(now.request_p99, before.request_p99);
  better |= now.amplification.value < kFewer * before.amplification.value;
  if (before.makespan_median) {
    worse |= !now.makespan_median ||
             to_seconds(*now.makespan_median) > kLonger * to_seconds(*before.makespan_median);
  }
  return better && !worse;
}

std::vector<std::string> tried_suggestions(const NamedOptions& row, const CellResult& result,
                                           const std::vector<std::string>& swept,
                                           const CampaignOptions& campaign,
                                           const std::function<bool()>& stop) {
  const Trier trier(campaign, stop);
  const Seen before = seen_in(result);
  std::vector<std::string> found;
  std::string in_vain;
  for (const Suggestion& each : next_to_try(scenario_of(row), before)) {
    if (names_any(each.text, swept)) continue;
    if (!found.empty() && (each.of_service || each.options.empty())) continue;
    if (each.options.empty()) return {each.text};
    const auto with = options_with(row, each.options);
    if (!with) continue;
    const auto now = trier.run(*with);
    if (!now) return {};
    std::string helps = gain(each, *now, result);
    if (!helps.empty() && each.options.contains("hedge-budget") && !now->had_outage()) {
      helps = larger_hedge_budget(row, trier, *now, helps);
    }
    if (!helps.empty()) {
      found.push_back(helps);
      if (!each.of_service) return found;
    }
    in_vain += (in_vain.empty() ? "" : ", ") + each.text.substr(0, each.text.find_first_of(":("));
  }
  // Remedies are for a service that is down.
  if (!found.empty() || in_vain.empty() || before.verdict != Verdict::kCollapsed) return found;
  return {"retrystorm remedies, for none of these helps alone: " + in_vain};
}

std::string suggestion_beside(const ScenarioOptions& row, const CellResult& result,
                              const AnswerTrials& trials, const std::vector<std::string>& swept,
                              const CampaignOptions& campaign, const std::function<bool()>& stop) {
  const AnswerTrials::Outcome* beside = worst(trials, result);
  if (beside == nullptr) return "";
  const Trier trier(campaign, stop);
  for (const Suggestion& each : next_to_try(beside->trial.options, seen_in(beside->result))) {
    if (each.of_service || each.options.empty() || names_any(each.text, swept)) continue;
    if (each.options.contains("max-retries")) continue;  // no remedy for a row that is well
    std::optional<CellResult> there, here;
    try {
      there = trier.run(changed(beside->trial.options, each.options));
      here = trier.run(changed(row, each.options));
    } catch (const std::invalid_argument&) {
      continue;
    }
    if (!there || !here) return "";
    if (seen_in(*there).verdict != Verdict::kRecovered || here->mostly_not_back()) continue;
    const auto success = [](const CellResult& cell) { return cell.phases[1].success.value_or(0); };
    const std::string with = percent(success(*here), 0), without = percent(success(result), 0);
    return each.text + " (" + std::to_string(there->down_runs()) + " of " +
           std::to_string(there->decided()) + " runs down with " + beside->trial.what + ", too" +
           (with == without ? ""
                            : "; as you asked " + with + " succeed in the outage, not " + without) +
           ')';
  }
  return "";
}

}  // namespace retrystorm
