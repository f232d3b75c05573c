#include "retrystorm/simulated_trials.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "study/judged_runs.h"

namespace retrystorm {
namespace {

double rounded_to(double value, double unit) {
  return std::round(value / unit) * unit;
}

}  // namespace

SimulatedTrials::SimulatedTrials(
    const std::vector<StudyDisturbance>& situations, const std::vector<SituationClaim>& claims,
    const Evaluator& evaluator, std::uint64_t first_seed,
    std::function<Scenario(const Settings&, const StudyDisturbance&)> scenario,
    std::function<void(const RunResult&)> ran)
    : situations_(situations),
      claims_(claims),
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

const SimulatedTrials::Tried* SimulatedTrials::find(const Settings& settings) const {
  const auto found = tried_.find(settings);
  return found == tried_.end() ? nullptr : &found->second;
}

const std::vector<RunResult>& SimulatedTrials::runs(const Settings& settings,
                                                    std::size_t situation) const {
  static const std::vector<RunResult> none;
  const Tried* tried = find(settings);
  return tried == nullptr ? none : tried->runs[situation];
}

Standing SimulatedTrials::standing(const Settings& settings) const {
  const Tried* tried = find(settings);
  if (tried == nullptr) return {.down = std::vector<DownRuns>(situations_.size()), .costs = {}};
  if (tried->standing) return *tried->standing;
  Standing standing;
  bool all = true;
  for (const auto& runs : tried->runs) {
    standing.down.push_back(
        {runs.size(), static_cast<std::size_t>(std::ranges::count_if(runs, may_be_down))});
    all &= !runs.empty();
  }
  if (all) {
    constexpr std::size_t kEnoughToProve = 20;
    const bool prove = tried->runs.front().size() >= kEnoughToProve;
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
  tried->standing = standing;
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
