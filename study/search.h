// Searches settings that are rarely down and cost little, where every run comes out by chance.
//
// All settings have the same seeds, so that they meet the same luck. First many settings have few runs,
// and the best ones more. Settings that are down in too many runs of one situation are dropped, however
// well they do in the others. Then those that nothing dominates breed, if they stay up where something
// differs, such as the load. What comes out of it has been
// chosen for its luck, too: only runs with fresh seeds say how good it is (`certify`).
//
// The search does not know what is set, nor what a run is. It asks `Trials`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "model/base/random.h"
#include "study/judged_runs.h"

namespace retrystorm {

// For each knob the number of its value. 0 leaves it as it is.
using Settings = std::vector<std::size_t>;

struct Knobs {
  std::vector<std::size_t> values;  // how many each has, with 0
  // Sets knobs without an effect to 0. Returns false if there are no such settings.
  std::function<bool(Settings&)> settle = [](Settings&) { return true; };
};

struct DownRuns {
  std::size_t runs = 0, hits = 0;
};

// What the runs of some settings have shown so far.
struct Standing {
  std::vector<DownRuns> down;  // by situation
  double missed = 0;           // by how much they miss other claims; 0: they meet all
  std::size_t fragile = 0;  // in how many variations they are down; 0: in none, or not varied yet
  // The less the better, all in the same unit. Rounded: smaller differences do not count.
  std::vector<double> costs;

  std::size_t most_down() const;  // of the situation with the most hits
  double cost() const;            // the sum
};

class Trials {
 public:
  virtual ~Trials() = default;
  // Goes on with the runs of these settings in a situation, until each has so many. Runs of the same
  // number have the same seed. Returns false if that was interrupted.
  virtual bool run(const std::vector<Settings>& all, std::size_t situation, std::size_t until) = 0;
  virtual Standing standing(const Settings& settings) const = 0;
  // Makes some runs of these settings where something differs. Returns false if that was interrupted.
  virtual bool vary(const std::vector<Settings>& /*all*/) { return true; }

 protected:
  Trials() = default;
  Trials(const Trials&) = default;
  Trials& operator=(const Trials&) = default;
};

// Is one no worse in any cost, and better in one?
bool dominates(const std::vector<double>& one, const std::vector<double>& other);

// Settings that cost more by so much in all are as good: few knobs are worth more.
inline constexpr double kSameCost = 0.01;

// How much work is done. The numbers of runs are those in each situation.
struct SearchPlan {
  std::size_t candidates = 300, screened = 4;  // to begin with, and their runs
  std::size_t raced = 60, race = 36;           // how many of them go on, and their runs
  std::size_t rounds = 4, children = 40;
};

class Search {
 public:
  // The search drops settings that are down in so many runs that their share is hardly below `bound`.
  // All must outlive the search.
  Search(const Knobs& knobs, Trials& trials, std::size_t situations, double bound,
         const SearchPlan& plan, std::uint64_t seed);

  // Begins with these settings and with others by chance; the first of these has a whole race, whatever it
  // costs. Returns false if it was interrupted: then what it knows comes from fewer runs.
  bool run(const std::vector<Settings>& first);

  // All that have run, the best first: rarely down, then near to the other claims, then rarely down where
  // something differs, then cheap, then with few knobs set. Those that were dropped are not among them.
  std::vector<Settings> ranked() const;
  // Those that met all claims in a whole race and are down in the fewest variations, and that none of these
  // dominates.
  std::vector<Settings> front() const;
  // Some of the front: the best one, that with the least of each cost, and others spread between them.
  std::vector<Settings> finalists(std::size_t count) const;
  // Sets knobs back to 0 as long as nothing gets worse, or the costs together by this at most.
  Settings simplified(Settings settings, double more_cost = kSameCost);

  const std::vector<Settings>& tried() const { return tried_; }

 private:
  bool extend(std::vector<Settings>& all, std::size_t until);
  bool vary_front();
  bool is_doomed(const Settings& settings) const;
  bool is_new(const Settings& settings) const;
  std::vector<Settings> by_chance(std::size_t count);
  std::vector<Settings> children();
  std::size_t pick(std::size_t count);

  const Knobs& knobs_;
  Trials& trials_;
  const double bound_;
  const SearchPlan plan_;
  ClientRandom random_;
  std::vector<Settings> tried_;
  std::set<Settings> varied_;
  std::vector<std::size_t> dropped_;
};

// Makes the runs of a plan of each of these settings, in each situation. Those of settings that cannot
// pass any more end early, which does not change how often settings pass. Returns false if interrupted.
bool certify(const Acceptance& plan, std::vector<Settings> all, std::size_t situations,
             Trials& fresh);
// Do these settings pass in every situation? If the true share of one of them is the bound or more,
// they do with a probability of at most that of the plan's misses, however many situations there are.
bool passes(const Acceptance& plan, const Standing& standing);

}  // namespace retrystorm
