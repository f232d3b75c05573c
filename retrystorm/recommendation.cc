// The work of `retrystorm recommend`: search, variations, certificate.
#include <algorithm>
#include <iostream>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "retrystorm/disturbances.h"
#include "retrystorm/recommend.h"

namespace retrystorm {
namespace {

SearchPlan plan_of(const RecommendOptions& options) {
  const std::size_t count = options.thorough ? options.candidates : options.candidates / 3;
  SearchPlan plan{.candidates = count,
                  .raced = count / 5,
                  .rounds = 2,
                  .children = std::max<std::size_t>(count / 6, 6)};
  if (!options.thorough) plan.race = 20;
  return plan;
}

ScenarioOptions scenario_in(const StudyDisturbance& situation, const Settings& settings,
                            const Question& question, const PolicySpace& space) {
  NamedOptions common = question.given;
  for (const auto& [name, value] : situation.options) common[name] = value;
  ScenarioOptions scenario = scenario_of(space.options_of(settings, common));
  if (question.observes_until_drained && situation.outage) {
    scenario.observe = until_drained(scenario);
  }
  return scenario;
}

std::vector<StudyCell> cells_of(const Question& question, const PolicySpace& space) {
  std::vector<StudyCell> cells;
  for (const StudyDisturbance& each : question.situations) {
    cells.push_back(
        {{space.name(0), each.title}, scenario_in(each, space.strategy(0), question, space)});
  }
  return cells;
}

// How much of it differs from what the search started from. Another strategy is much.
std::size_t changes_in(const Settings& settings) {
  constexpr std::size_t kOtherStrategy = 3;
  if (settings.front() != 0) return kOtherStrategy;
  return static_cast<std::size_t>(
      std::count_if(settings.begin(), settings.end(), [](std::size_t each) { return each != 0; }));
}

}  // namespace

// Few runs: in most variations all of them are down, or none.
bool Recommendation::vary(const std::vector<Settings>& all) {
  constexpr std::size_t kRuns = 3;
  for (const Variation& variation : variations_) {
    if (!variation.decides) continue;
    for (std::size_t i = 0; i < varied_.size(); ++i) {
      if (varied_[i].title == variation.title && !robust_.run(all, i, kRuns)) return false;
    }
  }
  return true;
}

Standing Recommendation::standing(const Settings& settings) const {
  Standing standing = trials_.standing(settings);
  standing.fragile = static_cast<std::size_t>(
      std::count_if(variations_.begin(), variations_.end(), [&](const Variation& each) {
        const DownRuns worst = worst_of(settings, each);
        return each.decides && is_majority(worst.hits, worst.runs);
      }));
  return standing;
}

DownRuns Recommendation::worst_of(const Settings& settings, const Variation& variation) const {
  const Standing standing = robust_.standing(settings);
  DownRuns worst;
  for (std::size_t i = 0; i < varied_.size(); ++i) {
    if (varied_[i].title != variation.title || standing.down[i].runs == 0) continue;
    if (worst.runs == 0 || standing.down[i].hits > worst.hits) worst = standing.down[i];
  }
  return worst;
}

std::optional<Duration> Recommendation::back_of(const Settings& settings,
                                                const Variation& variation) const {
  Duration longest{0};
  for (std::size_t i = 0; i < varied_.size(); ++i) {
    if (varied_[i].title != variation.title) continue;
    const std::vector<RunResult>& runs = robust_.runs(settings, i);
    if (runs.empty()) return std::nullopt;
    const auto back = summarize(runs).recovery_p90;
    if (!back) return std::nullopt;
    longest = std::max(longest, *back);
  }
  return longest;
}

Recommendation::Recommendation(const Invocation& invocation, const RecommendOptions& options)
    : options_(options),
      question_(question_of(invocation, options)),
      space_(question_.strategies, question_.given, options.fixed, question_.format),
      study_(invocation, options,
             {.labels = {"setting", "disturbance"}, .cells = cells_of(question_, space_)}),
      evaluator_(study_.evaluator()),
      variations_(variations(options.workload, question_.given)),
      varied_(varied(variations_, question_)),
      plan_(plan_of(options)),
      certified_(options.thorough ? 4 : 3),
      misses_(kUsualMisses / static_cast<double>(certified_ + question_.compared)),
      certificate_(certificate(question_.down.bound, misses_)),
      bar_(progress_stream(), expected_runs()),
      trials_(trials(question_.situations, question_.claims, 0)),
      robust_(trials(varied_, no_claims_, kRobustSeeds)),
      fresh_(trials(question_.situations, question_.claims, kFreshSeeds)),
      search_(space_.knobs(), *this, question_.situations.size(), question_.down.bound, plan_,
              study_.seed()) {
  std::vector<std::size_t> outages(question_.outages);
  std::iota(outages.begin(), outages.end(), std::size_t{0});
  std::vector<std::string> set_here = kSetByDisturbances;
  for (const std::string& name : space_.names()) set_here.push_back(name);
  if (question_.multiplexed) set_here.emplace_back("connections");
  study_.tell_outlook(invocation, outages, set_here);
}

SimulatedTrials Recommendation::trials(const std::vector<StudyDisturbance>& situations,
                                       const std::vector<SituationClaim>& claims,
                                       std::uint64_t first_seed) {
  return {situations,
          claims,
          evaluator_,
          study_.seed() + first_seed,
          [this](const Settings& settings, const StudyDisturbance& situation) {
            return make_scenario(scenario_in(situation, settings, question_, space_), 0);
          },
          [this](const RunResult& run) { bar_.see(run); }};
}

// About. The search drops most settings early, and the certificate ends the runs of the bad ones.
std::size_t Recommendation::expected_runs() const {
  const std::size_t search = plan_.candidates * plan_.screened + plan_.raced * plan_.race +
                             plan_.rounds * plan_.children * plan_.race / 2;
  return question_.situations.size() * (search + certified_ * certificate_.runs) +
         2 * certified_ * varied_.size() * robust_runs();
}

std::size_t Recommendation::down_when_varied(const Settings& settings) const {
  std::size_t hits = 0;
  for (const Variation& each : variations_) hits += worst_of(settings, each).hits;
  return hits;
}

const Variation* Recommendation::parting(const std::vector<Settings>& all) const {
  const Variation* best = nullptr;
  Duration most = std::chrono::seconds(1);
  for (const Variation& each : variations_) {
    if (!each.decides) continue;
    Duration least = Duration::max(), longest{0};
    for (const Settings& settings : all) {
      const auto back = back_of(settings, each);
      if (!back) continue;  // down there, which counts for more
      least = std::min(least, *back);
      longest = std::max(longest, *back);
    }
    if (least > longest || longest - least <= most) continue;
    most = longest - least;
    best = &each;
  }
  return best;
}

// Those that should be the recommended, the safer and the cheaper one, and then the next best.
std::vector<Settings> Recommendation::by_merit(std::vector<Settings> all,
                                               const SimulatedTrials& trials) const {
  std::vector<Settings> result;
  const auto add_best = [&](const auto& key) {
    const auto less = [&key](const Settings& a, const Settings& b) { return key(a) < key(b); };
    const auto best = std::min_element(all.begin(), all.end(), less);
    if (best == all.end()) return;
    result.push_back(*best);
    all.erase(best);
  };
  // What stays up in the most variations, and of this the plainest that hardly costs more.
  const auto cost_of = [&](const Settings& each) {
    constexpr double kPerSecond = 0.001;  // as in the trials
    const auto back = parting_ == nullptr ? std::nullopt : back_of(each, *parting_);
    return trials.standing(each).cost() + kPerSecond * to_seconds(back.value_or(Duration::zero()));
  };
  const auto add_plainest = [&] {
    std::size_t fragile = std::numeric_limits<std::size_t>::max();
    double cost = std::numeric_limits<double>::max();
    for (const Settings& each : all) {
      const std::size_t its = standing(each).fragile;
      if (its < fragile) cost = std::numeric_limits<double>::max();
      fragile = std::min(fragile, its);
      if (its == fragile) cost = std::min(cost, cost_of(each));
    }
    add_best([&](const Settings& each) {
      const double its = cost_of(each);
      return std::tuple(standing(each).fragile, its > cost + kSameCost, changes_in(each), its);
    });
  };
  add_plainest();
  add_best([&](const Settings& each) {
    return std::pair(down_when_varied(each), trials.figures(each).most_attempts);
  });
  add_best([&](const Settings& each) { return trials.figures(each).attempts; });
  while (!all.empty()) add_plainest();
  return result;
}

bool Recommendation::work() {
  if (!search_.run(space_.simplest(plan_.candidates))) return false;
  const auto add = [](std::vector<Settings>& all, const Settings& one) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  };
  // What the search started from, as it is, unless something is wrong with it. Whether a claim holds that is
  // nearly met, fresh seeds say.
  constexpr double kNearlyMet = 0.01;
  const Settings unchanged = space_.strategy(0);
  const Standing standing = trials_.standing(unchanged);
  if (standing.most_down() == 0 && standing.missed < kNearlyMet && !standing.costs.empty()) {
    add(found_, unchanged);
  }
  // The simplest that hardly costs more, and others that cost as little as what was found.
  constexpr double kHardlyMore = 0.002;
  for (const Settings& each : search_.finalists(2 * certified_)) {
    add(found_, search_.simplified(each));
    add(found_, search_.simplified(each, kHardlyMore));
  }
  std::vector<Settings> all = found_;
  for (std::size_t i = 0; i < question_.compared; ++i) add(all, space_.strategy(i));
  for (std::size_t i = 0; i < varied_.size(); ++i) {
    if (!robust_.run(all, i, robust_runs())) return false;
  }
  parting_ = parting(found_);
  found_ = by_merit(found_, trials_);
  found_.resize(std::min(found_.size(), certified_));
  all = found_;
  for (std::size_t i = 0; i < question_.compared; ++i) add(all, space_.strategy(i));
  return certify(certificate_, all, question_.situations.size(), fresh_);
}

bool Recommendation::is_certified(const Settings& settings) const {
  return passes(certificate_, fresh_.standing(settings)) &&
         fresh_.missed(settings, 2 * misses_).empty();
}

std::vector<Row> Recommendation::rows() const {
  std::vector<Settings> good = found_;
  std::erase_if(good, [this](const Settings& each) { return !is_certified(each); });
  std::vector<Row> rows;
  const auto is_shown = [&rows](const Settings& each) {
    return std::any_of(rows.begin(), rows.end(),
                       [&each](const Row& row) { return row.settings == each; });
  };
  if (!good.empty()) {
    good = by_merit(good, fresh_);
    rows.push_back({std::string(kRecommended), good.front()});
    const SituationFigures ours = fresh_.figures(good.front());
    constexpr double kClearly = 0.05;  // attempts of a request
    for (std::size_t i = 1; i < good.size(); ++i) {
      const SituationFigures its = fresh_.figures(good[i]);
      if (i == 1 &&
          (down_when_varied(good[i]) + robust_runs() / 2 < down_when_varied(good.front()) ||
           its.most_attempts + kClearly < ours.most_attempts)) {
        rows.push_back({"safer", good[i]});
      } else if (std::all_of(rows.begin(), rows.end(), [&](const Row& row) {
                   return its.attempts + kClearly < fresh_.figures(row.settings).attempts;
                 })) {
        rows.push_back({"cheaper", good[i]});
      }
    }
  }
  std::size_t refused = 0, unfinished = 0;
  for (const Settings& each : found_) {
    // What the search started from has a row of its own name.
    if (is_certified(each) || each == space_.strategy(0)) continue;
    const bool open = !passes(certificate_, fresh_.standing(each)) &&
                      fresh_.standing(each).most_down() <= certificate_.most_for;
    rows.push_back({open ? "unfinished " + std::to_string(++unfinished)
                         : "refused " + std::to_string(++refused),
                    each});
  }
  for (std::size_t i = 0; i < question_.compared; ++i) {
    if (!is_shown(space_.strategy(i))) {
      rows.push_back({space_.name(i), space_.strategy(i), false});
    }
  }
  return rows;
}

}  // namespace retrystorm
