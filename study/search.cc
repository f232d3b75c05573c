#include "study/search.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

namespace retrystorm {
namespace {

std::size_t knobs_set(const Settings& settings) {
  return settings.size() - static_cast<std::size_t>(std::ranges::count(settings, std::size_t{0}));
}

// The settings with the least of these keys first.
template <typename Key>
void sort_by(std::vector<Settings>& all, const Key& key) {
  using Keyed = std::pair<decltype(key(all.front())), Settings>;
  std::vector<Keyed> keyed;
  for (Settings& each : all) keyed.emplace_back(key(each), std::move(each));
  std::ranges::sort(keyed);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::move(keyed[i].second);
}

bool contains(const std::vector<Settings>& all, const Settings& one) {
  return std::ranges::find(all, one) != all.end();
}

std::size_t fewest_runs(const Standing& standing) {
  if (standing.down.empty()) return 0;
  return std::ranges::min(standing.down, {}, &DownRuns::runs).runs;
}

}  // namespace

std::size_t Standing::most_down() const {
  return down.empty() ? 0 : std::ranges::max(down, {}, &DownRuns::hits).hits;
}

double Standing::cost() const {
  return std::accumulate(costs.begin(), costs.end(), 0.0);
}

bool dominates(const std::vector<double>& one, const std::vector<double>& other) {
  bool better = false;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] > other[i]) return false;
    better |= one[i] < other[i];
  }
  return better;
}

Search::Search(const Knobs& knobs, Trials& trials, std::size_t situations, double bound,
               const SearchPlan& plan, std::uint64_t seed)
    : knobs_(knobs),
      trials_(trials),
      bound_(bound),
      plan_(plan),
      random_(seed, 0),
      dropped_(situations, 0) {}

std::size_t Search::pick(std::size_t count) {
  return static_cast<std::size_t>(random_.uniform() * static_cast<double>(count));
}

bool Search::is_new(const Settings& settings) const {
  return !contains(tried_, settings);
}

// Would settings at the bound be down so often in one run of 500?
bool Search::is_doomed(const Settings& settings) const {
  constexpr double kSeldom = 0.002;
  const Standing standing = trials_.standing(settings);
  return std::ranges::any_of(standing.down, [this](const DownRuns& each) {
    return each.hits > 0 && 1 - binomial_at_most(each.hits - 1, each.runs, bound_) < kSeldom;
  });
}

// The situation that has ended the most comes first, because it spares the most runs.
bool Search::extend(std::vector<Settings>& all, std::size_t until) {
  std::vector<std::size_t> order(dropped_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater(),
                           [this](std::size_t each) { return dropped_[each]; });
  constexpr std::size_t kFewRuns = 2;
  for (const std::size_t situation : order) {
    for (const std::size_t look : {std::min(kFewRuns, until), until}) {
      if (!trials_.run(all, situation, look)) return false;
      dropped_[situation] +=
          std::erase_if(all, [this](const Settings& each) { return is_doomed(each); });
    }
  }
  return true;
}

std::vector<Settings> Search::by_chance(std::size_t count) {
  constexpr double kMostSet = 0.75;  // the share of the knobs that are set
  constexpr std::size_t kVain = 20;
  std::vector<Settings> result;
  for (std::size_t i = 0; i < kVain * count && result.size() < count; ++i) {
    Settings one(knobs_.values.size());
    const double set = kMostSet * random_.uniform();
    for (std::size_t k = 0; k < one.size(); ++k) {
      if (random_.uniform() < set) one[k] = pick(knobs_.values[k]);
    }
    if (knobs_.settle(one) && is_new(one) && !contains(result, one)) result.push_back(one);
  }
  return result;
}

// One or two knobs of settings on the front are changed, most of them by a step or an eighth of the range.
std::vector<Settings> Search::children() {
  std::vector<Settings> parents = front();
  if (parents.empty()) {
    parents = ranked();
    parents.resize(std::min<std::size_t>(parents.size(), 8));
  }
  constexpr double kJump = 0.25;
  constexpr std::size_t kVain = 20;
  std::vector<Settings> result;
  for (std::size_t i = 0; i < kVain * plan_.children && result.size() < plan_.children; ++i) {
    if (parents.empty()) break;
    Settings child = parents[pick(parents.size())];
    const std::size_t changes = 1 + pick(2);
    for (std::size_t change = 0; change < changes; ++change) {
      const std::size_t knob = pick(child.size());
      const std::size_t values = knobs_.values[knob];
      if (random_.uniform() < kJump) {
        child[knob] = pick(values);
      } else {
        const std::size_t step = 1 + pick(std::max<std::size_t>(values / 8, 1));
        const bool up = child[knob] < step || random_.uniform() < 0.5;
        child[knob] = up ? std::min(child[knob] + step, values - 1) : child[knob] - step;
      }
    }
    if (knobs_.settle(child) && is_new(child) && !contains(result, child)) result.push_back(child);
  }
  return result;
}

bool Search::run(const std::vector<Settings>& first) {
  std::vector<Settings> all = first;
  const std::size_t more = plan_.candidates - std::min(plan_.candidates, all.size());
  for (Settings& each : by_chance(more)) {
    if (!contains(all, each)) all.push_back(std::move(each));
  }
  tried_ = all;
  if (!extend(all, plan_.screened)) return false;
  std::vector<Settings> best = ranked();
  const bool may_race = !first.empty() && contains(best, first.front());
  best.resize(std::min(best.size(), plan_.raced));
  if (may_race && !contains(best, first.front())) best.push_back(first.front());
  if (!extend(best, plan_.race) || !vary_front()) return false;
  for (std::size_t round = 0; round < plan_.rounds; ++round) {
    std::vector<Settings> young = children();
    if (young.empty()) break;
    tried_.insert(tried_.end(), young.begin(), young.end());
    if (!extend(young, 2 * plan_.screened)) return false;
    // Those that may belong to the front go on.
    const std::vector<Settings> old = front();
    std::erase_if(young, [&](const Settings& each) {
      const Standing standing = trials_.standing(each);
      return standing.missed > 0 || std::ranges::any_of(old, [&](const Settings& one) {
               return dominates(trials_.standing(one).costs, standing.costs);
             });
    });
    if (!extend(young, plan_.race) || !vary_front()) return false;
  }
  return true;
}

// Only what may be chosen is varied. What proves to be fragile leaves the front to others.
bool Search::vary_front() {
  for (;;) {
    std::vector<Settings> all = front();
    std::erase_if(all, [this](const Settings& each) { return varied_.contains(each); });
    if (all.empty()) return true;
    if (!trials_.vary(all)) return false;
    varied_.insert(all.begin(), all.end());
  }
}

std::vector<Settings> Search::ranked() const {
  std::vector<Settings> all;
  for (const Settings& each : tried_) {
    if (fewest_runs(trials_.standing(each)) > 0 && !is_doomed(each)) all.push_back(each);
  }
  sort_by(all, [this](const Settings& each) {
    const Standing standing = trials_.standing(each);
    return std::tuple(standing.most_down(), standing.missed, standing.fragile, standing.cost(),
                      knobs_set(each));
  });
  return all;
}

std::vector<Settings> Search::front() const {
  std::vector<Settings> result;
  std::vector<std::vector<double>> costs;
  std::size_t least = 0;
  // What dominates others costs less in all, so that it comes before them. Of those with the same costs, the first is
  // the simplest.
  for (const Settings& each : ranked()) {
    const Standing standing = trials_.standing(each);
    if (fewest_runs(standing) < plan_.race || standing.missed > 0 || standing.most_down() > 0) {
      continue;
    }
    if (result.empty()) least = standing.fragile;
    const bool is_beaten = std::ranges::any_of(costs, [&standing](const auto& one) {
      return one == standing.costs || dominates(one, standing.costs);
    });
    if (standing.fragile > least || is_beaten) continue;
    costs.push_back(standing.costs);
    result.push_back(each);
  }
  return result;
}

std::vector<Settings> Search::finalists(std::size_t count) const {
  const std::vector<Settings> all = front();
  std::vector<Settings> result;
  const auto add = [&](const Settings& one) {
    if (result.size() < count && !contains(result, one)) result.push_back(one);
  };
  if (all.empty()) return result;
  add(all.front());
  const std::size_t costs = trials_.standing(all.front()).costs.size();
  for (std::size_t i = 0; i < costs; ++i) {
    std::vector<Settings> by_cost = all;
    sort_by(by_cost, [&](const Settings& each) {
      const Standing standing = trials_.standing(each);
      return std::tuple(standing.costs[i], standing.cost(), knobs_set(each));
    });
    add(by_cost.front());
  }
  // From the least to the greatest of the last cost.
  std::vector<Settings> spread = all;
  sort_by(spread, [&](const Settings& each) { return trials_.standing(each).costs.back(); });
  for (std::size_t parts = 2; parts <= all.size(); parts *= 2) {
    for (std::size_t i = 1; i < parts; i += 2) add(spread[i * all.size() / parts]);
  }
  for (const Settings& each : all) add(each);
  return result;
}

Settings Search::simplified(Settings settings, double more_cost) {
  const double at_first = trials_.standing(settings).cost();
  for (std::size_t k = 0; k < settings.size(); ++k) {
    if (settings[k] == 0) continue;
    Settings simpler = settings;
    simpler[k] = 0;
    if (!knobs_.settle(simpler) || knobs_set(simpler) >= knobs_set(settings)) continue;
    if (is_new(simpler)) tried_.push_back(simpler);
    std::vector<Settings> one{simpler};
    const std::size_t runs = fewest_runs(trials_.standing(settings));
    if (!extend(one, std::min(plan_.screened, runs)) || !extend(one, runs)) return settings;
    if (one.empty()) continue;
    const Standing before = trials_.standing(settings), now = trials_.standing(simpler);
    if (now.most_down() > before.most_down() || now.missed > before.missed ||
        now.cost() > std::max(at_first + more_cost, before.cost())) {
      continue;
    }
    if (!trials_.vary(one)) return settings;
    if (trials_.standing(simpler).fragile <= before.fragile) settings = std::move(simpler);
  }
  return settings;
}

bool certify(const Acceptance& plan, std::vector<Settings> all, std::size_t situations,
             Trials& fresh) {
  constexpr std::size_t kFirstRound = 15;
  for (std::size_t until = std::min(kFirstRound, plan.runs);;
       until = std::min(2 * until, plan.runs)) {
    for (std::size_t situation = 0; situation < situations; ++situation) {
      if (!fresh.run(all, situation, until)) return false;
      std::erase_if(all, [&](const Settings& each) {
        return fresh.standing(each).most_down() > plan.most_for;
      });
    }
    if (until == plan.runs || all.empty()) return true;
  }
}

bool passes(const Acceptance& plan, const Standing& standing) {
  return fewest_runs(standing) >= plan.runs && standing.most_down() <= plan.most_for;
}

}  // namespace retrystorm
