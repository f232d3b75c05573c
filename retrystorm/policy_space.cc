#include "retrystorm/policy_space.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "model/base/text.h"
#include "study/judged_runs.h"

namespace retrystorm {
namespace {

// What is retried (--retry-on) and how long an attempt may take (--timeout) are no question of load alone:
// they stay as they are. Not among the values is what nobody should be told to write: attempts without
// an end, hardly any wait, no jitter.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kKnobs{
    {{"max-attempts", "2 3 4 5 6 8 10"},
     {"growth", "constant exponential"},
     {"backoff-base", "50ms 100ms 200ms 500ms 1s 2s 5s"},
     {"backoff-factor", "1.5 2 3"},
     {"backoff-cap", "1s 2s 5s 10s 20s 30s 1m"},
     {"jitter", "proportional:0.2 proportional:0.5 equal full"},
     {"retry-budget", "none 5% 10% 20% 50% 100% grpc envoy"},
     {"budget-tokens", "10 20 50 100 200 500 1000"},
     {"budget-deposit", "0.02 0.05 0.1 0.2 0.5 1"},
     {"budget-share", "0.05 0.1 0.2 0.3 0.5"},
     {"budget-min-concurrency", "3 10 30 100"},
     {"breaker", "none resilience4j"},
     {"breaker-failure-share", "0.2 0.5 0.8"},
     {"deadline", "none 2s 5s 10s 20s 30s 1m"}}};

bool is_bounded(const LimitSettings& limit) {
  return limit.max_retries != LimitSettings::kUnlimited;
}

// Does anything end the retries of a service that stays down, beside the number of attempts?
bool is_limited(const RetrySettings& retry) {
  return retry.limit.has_deadline() || retry.process.breaker.on ||
         retry.process.budget.kind != BudgetSettings::Kind::kNone;
}

double rounded_to(double value, double unit) {
  return std::round(value / unit) * unit;
}

bool is_same_option(const Option& a, const Option& b) {
  return a.name == b.name || is_other_form(a, b);
}

}  // namespace

PolicySpace::PolicySpace(std::vector<ListedStrategy> strategies, const NamedOptions& given,
                         const std::vector<std::string>& fixed, std::optional<ExportFormat> format)
    : strategies_(std::move(strategies)), given_(given), format_(format) {
  const ListedScenario any;
  const OptionList& list = any.list;
  std::vector<std::string_view> known;
  for (const auto& [name, values] : kKnobs) known.push_back(name);
  std::vector<const Option*> kept;
  for (const auto& [name, text] : given) kept.push_back(list.find(name));
  for (const std::string& name : fixed) {
    const Option* option = list.find(name);
    const bool is_knob = option != nullptr && std::ranges::any_of(known, [&](auto each) {
                           return is_same_option(*option, *list.find(each));
                         });
    if (!is_knob) {
      refuse("--fix: " + (option == nullptr ? unknown_name(name, known)
                                            : option->name + " is not changed anyway"));
    }
    kept.push_back(option);
  }
  knobs_.values.push_back(strategies_.size());
  for (const auto& [name, values] : kKnobs) {
    const Option& knob = *list.find(name);
    if (std::ranges::any_of(kept,
                            [&knob](const Option* each) { return is_same_option(*each, knob); })) {
      continue;
    }
    Knob one{.name = std::string(name), .values = {""}};
    for (const std::string_view value : split(values, ' ')) one.values.emplace_back(value);
    knobs_.values.push_back(one.values.size());
    knob_list_.push_back(std::move(one));
  }
  knobs_.settle = [this](Settings& settings) { return settle(settings); };
  const WorkloadOptions unchanged = scenario_of(options_of(strategy(0), given_)).workload;
  retry_on_ = unchanged.retry.limit.retry_on;
  timeout_ = unchanged.timeout;
  const bool bounded = is_bounded(unchanged.retry.limit);
  must_be_bounded_ = bounded || std::ranges::any_of(knob_list_, [](const Knob& each) {
                       return each.name == "max-attempts";
                     });
  must_be_limited_ = is_limited(unchanged.retry) || (must_be_bounded_ && !bounded);
  may_be_lost_ = lost_in_file(unchanged);
}

std::vector<std::string> PolicySpace::names() const {
  std::vector<std::string> names;
  for (const Knob& each : knob_list_) names.push_back(each.name);
  return names;
}

Settings PolicySpace::strategy(std::size_t number) const {
  Settings settings(knobs_.values.size(), 0);
  settings[0] = number;
  return settings;
}

std::vector<Settings> PolicySpace::simplest(std::size_t most) const {
  std::vector<Settings> all;
  const auto add = [&](Settings settings) {
    if (settle(settings) && std::ranges::find(all, settings) == all.end()) {
      all.push_back(std::move(settings));
    }
  };
  const auto changed = [](Settings settings, std::size_t knob, std::size_t value) {
    settings[knob] = value;
    return settings;
  };
  for (std::size_t k = 0; k < knobs_.values.size(); ++k) {
    for (std::size_t value = k == 0 ? 0 : 1; value < knobs_.values[k]; ++value) {
      const Settings single = changed(strategy(0), k, value);
      add(single);
      // The numbers of another budget or breaker have an effect only with it.
      const std::string_view name = k == 0 ? "" : std::string_view(knob_list_[k - 1].name);
      const std::string_view part = name == "retry-budget" ? "budget-"
                                    : name == "breaker"    ? "breaker-"
                                                           : "";
      if (part.empty()) continue;
      for (std::size_t j = 1; j < knobs_.values.size(); ++j) {
        if (!knob_list_[j - 1].name.starts_with(part)) continue;
        for (std::size_t v = 1; v < knobs_.values[j]; ++v) add(changed(single, j, v));
      }
    }
  }
  if (all.size() <= most) return all;
  std::vector<Settings> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
  return some;
}

NamedOptions PolicySpace::changes(const Settings& settings) const {
  NamedOptions changes;
  for (std::size_t k = 0; k < knob_list_.size(); ++k) {
    const std::size_t value = settings[k + 1];
    if (value > 0) changes[knob_list_[k].name] = knob_list_[k].values[value];
  }
  return changes;
}

NamedOptions PolicySpace::options_of(const Settings& settings, const NamedOptions& common) const {
  NamedOptions options = common;
  options.merge(changes(settings));
  return with_strategy(std::move(options), strategies_[settings[0]]);
}

std::vector<std::pair<std::string, std::string>> PolicySpace::in_full(
    const Settings& settings) const {
  const ListedScenario scenario(scenario_of(options_of(settings, given_)));
  std::vector<std::string> names;
  for (const auto& [name, values] : kKnobs) names.emplace_back(name);
  const UnusedOptions unused = unused_options(scenario.options, names);
  names.insert(names.end(), {"retry-on", "timeout"});
  // Of this budget people know the share alone, which is its deposit.
  const bool sre = scenario.options.workload.retry.process.budget.name == "sre";
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& name : names) {
    if (unused.contains(name)) continue;
    if (sre && name.starts_with("budget-") && name != "budget-deposit") continue;
    all.emplace_back(name, scenario.list.find(name)->get());
  }
  return all;
}

NamedOptions PolicySpace::settings_of(std::size_t strategy) const {
  const ListedStrategy& listed = strategies_[strategy];
  return listed.settings.value_or(NamedOptions{{"strategy", listed.name}});
}

// The options of which a file of the format would say something else, and what else it cannot say.
std::set<std::string> PolicySpace::lost_in_file(const WorkloadOptions& workload) const {
  std::set<std::string> lost;
  if (!format_) return lost;
  for (const Statement& each : export_policy(workload, *format_).differences) {
    const bool is_option = each.id == "export-option";
    lost.insert(is_option ? std::get<std::string>(each.values.front().of) : std::string(each.id));
  }
  return lost;
}

bool PolicySpace::settle(Settings& settings) const {
  if (settings[0] != 0) settings = strategy(settings[0]);
  const auto is_budget = [](std::string_view name) {
    return name == "retry-budget" || name.starts_with("budget-");
  };
  try {
    const ListedScenario unchanged(scenario_of(options_of(strategy(0), given_)));
    // What has no effect, or the format cannot say, is set back until nothing is: one change may take the
    // effect of another.
    for (;;) {
      const ListedScenario listed(scenario_of(options_of(settings, given_)));
      const ScenarioOptions& scenario = listed.options;
      check(scenario.workload.retry);
      // What is retried and the timeout are no knobs.
      if (to_string(scenario.workload.retry.limit.retry_on) != to_string(retry_on_) ||
          scenario.workload.timeout != timeout_) {
        return false;
      }
      const RetrySettings& retry = scenario.workload.retry;
      if ((must_be_bounded_ && !is_bounded(retry.limit)) ||
          (must_be_limited_ && !is_limited(retry))) {
        return false;
      }
      const UnusedOptions unused = unused_options(scenario);
      const std::set<std::string> lost = lost_in_file(scenario.workload);
      const bool budget_is_lost = std::ranges::any_of(
          lost, [&](const auto& each) { return is_budget(each) && !may_be_lost_.contains(each); });
      const std::string_view budget = scenario.workload.retry.process.budget.name;
      bool settled = true;
      for (std::size_t k = 0; k < knob_list_.size(); ++k) {
        const Option& option = *listed.list.find(knob_list_[k].name);
        if (settings[k + 1] == 0) continue;
        const auto in = [&option](const auto& names) {
          return names.contains(option.name) || names.contains(option.same_as);
        };
        const bool is_other = option.get() != unchanged.list.find(option.name)->get();
        const bool is_idle = in(unused) || (option.name.starts_with("budget-") &&
                                            (budget == "none" || budget == "sre"));
        const bool is_lost =
            (in(lost) && !in(may_be_lost_)) || (is_budget(option.name) && budget_is_lost);
        if (is_other && !is_idle && !is_lost) continue;
        settings[k + 1] = 0;
        settled = false;
      }
      if (!settled) continue;
      return std::ranges::all_of(lost,
                                 [this](const auto& each) { return may_be_lost_.contains(each); });
    }
  } catch (const std::invalid_argument&) {
    return false;  // two settings contradict each other
  }
}

SimulatedTrials::SimulatedTrials(
    const std::vector<StudyDisturbance>& situations, std::vector<SituationClaim> claims,
    const Evaluator& evaluator, std::uint64_t first_seed,
    std::function<Scenario(const Settings&, const StudyDisturbance&)> scenario,
    std::function<void(const RunResult&)> ran)
    : situations_(situations),
      claims_(std::move(claims)),
      evaluator_(evaluator),
      first_seed_(first_seed),
      scenario_(std::move(scenario)),
      ran_(std::move(ran)) {}

bool SimulatedTrials::run(const std::vector<Settings>& all, std::size_t situation,
                          std::size_t until) {
  // Those that have made as many runs go on together.
  std::map<std::size_t, std::vector<Tried*>> by_runs;
  std::map<std::size_t, std::vector<const Settings*>> settings_of;
  for (const Settings& each : all) {
    Tried& tried = tried_[each];
    tried.runs.resize(situations_.size());
    const std::size_t so_far = tried.runs[situation].size();
    if (so_far >= until) continue;
    by_runs[so_far].push_back(&tried);
    settings_of[so_far].push_back(&each);
  }
  for (auto& [so_far, group] : by_runs) {
    const bool done = evaluator_.run(
        group.size(),
        [&, &some = settings_of[so_far]](std::size_t i) {
          return scenario_(*some[i], situations_[situation]);
        },
        seeds_from(first_seed_ + so_far, until - so_far),
        [&, &group = group](std::size_t i, const std::vector<RunResult>& runs) {
          std::vector<RunResult>& so_far_of_it = group[i]->runs[situation];
          so_far_of_it.insert(so_far_of_it.end(), runs.begin(), runs.end());
          group[i]->standing.reset();
        },
        ran_);
    if (!done) return false;
  }
  return true;
}

const std::vector<RunResult>& SimulatedTrials::runs(const Settings& settings,
                                                    std::size_t situation) const {
  static const std::vector<RunResult> kNone;
  const auto found = tried_.find(settings);
  return found == tried_.end() ? kNone : found->second.runs[situation];
}

Standing SimulatedTrials::standing(const Settings& settings) const {
  const auto found = tried_.find(settings);
  if (found == tried_.end())
    return {.down = std::vector<DownRuns>(situations_.size()), .costs = {}};
  const Tried& tried = found->second;
  if (tried.standing) return *tried.standing;
  Standing standing;
  bool all = true;
  for (const auto& runs : tried.runs) {
    standing.down.push_back(
        {runs.size(), static_cast<std::size_t>(std::ranges::count_if(runs, may_be_down))});
    all &= !runs.empty();
  }
  if (all) {
    constexpr std::size_t kEnoughToProve = 20;
    const bool prove = tried.runs.front().size() >= kEnoughToProve;
    for (const auto& [claim, miss] :
         missed(settings, prove ? std::optional(kUsualMisses) : std::nullopt)) {
      standing.missed += miss.by;
    }
    const SituationFigures figures = this->figures(settings);
    constexpr double kPerAttempt = 0.1, kPerSecond = 0.001;
    constexpr Duration kNever = std::chrono::minutes(2);
    standing.costs = {kPerSecond * rounded_to(to_seconds(figures.back.value_or(kNever)), 1),
                      rounded_to(figures.failed, 0.001),
                      kPerAttempt * rounded_to(figures.attempts - 1, 0.01)};
  }
  tried.standing = standing;
  return standing;
}

SituationFigures SimulatedTrials::figures(const Settings& settings) const {
  SituationFigures figures{.attempts = 0};
  double counted = 0;
  for (std::size_t i = 0; i < situations_.size(); ++i) {
    const CellResult cell = summarize(runs(settings, i));
    if (situations_[i].brief) {
      figures.failed += 1 - cell.success_share;
      ++counted;
    }
    figures.attempts += cell.amplification;
    if (!situations_[i].outage) {
      figures.in_errors.push_back(cell.success_share);
      continue;
    }
    figures.in_outage.push_back(
        cell.phases[static_cast<std::size_t>(RunPhase::kDuring)].success.value_or(1));
    figures.most_attempts = std::max(figures.most_attempts, cell.amplification);
    figures.back = figures.back && cell.recovery_p90
                       ? std::optional(std::max(*figures.back, *cell.recovery_p90))
                       : std::nullopt;
  }
  figures.failed /= std::max(counted, 1.0);
  figures.attempts /= static_cast<double>(situations_.size());
  return figures;
}

std::map<std::size_t, MissedClaim> SimulatedTrials::missed(const Settings& settings,
                                                           std::optional<double> misses) const {
  constexpr double kLeast = 1e-6;  // not proven, though the value is on the right side
  std::map<std::size_t, MissedClaim> result;
  for (std::size_t c = 0; c < claims_.size(); ++c) {
    const Expectation& claim = claims_[c].claim;
    for (std::size_t i = 0; i < situations_.size(); ++i) {
      if (claims_[c].only_in.value_or(i) != i || runs(settings, i).empty()) continue;
      const Figures figures =
          cell_figures(summarize(runs(settings, i), misses.value_or(kUsualMisses)));
      const auto& figure = figures.at(claim.figure);
      if (!figure.is_number() && !situations_[i].outage) continue;  // such as a time to recovery
      const Figures value{{claim.figure, figure}};                  // without its interval
      if (judge(claim, misses ? figures : value).finding == Finding::kHolds) continue;
      MissedClaim miss{
          .by = kLeast, .situation = i, .value = std::numeric_limits<double>::infinity()};
      if (figure.is_number()) miss.value = figure.get<double>();
      if (judge(claim, value).finding != Finding::kHolds) {
        miss.by = std::max(kLeast, std::min(std::abs(miss.value - claim.bound) /
                                                std::max(std::abs(claim.bound), kLeast),
                                            1.0));
      }
      if (miss.by > result[c].by) result[c] = miss;
    }
  }
  return result;
}

}  // namespace retrystorm
