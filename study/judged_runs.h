// Makes runs of one scenario until claims about them are decided.
//
// The claims are judged after 25, 50, 100, ... runs, and finally after `most`. A claim is decided wrongly if the true
// value is beyond one end of an interval: after all runs with a probability of 2.5 %, as in one look, and at all looks
// before together with as much. The seeds count up, so the same options give the same runs and findings with any
// number of threads.
//
// - A share of the runs has `sure_interval`. That of `down` holds all that runs still recovering may come to.
// - A figure of the table that has an interval there (a share, a mean, a median) is judged by it.
// - Any other figure of a run's summary is judged by the interval of its mean over the runs.
// - A figure of the table without an interval is judged by its value after all runs.
// - A verdict must be that of every run. So it takes all runs, unless one has another verdict.
// - A claim that the service comes back is not decided where the clients let less than the load through, or most
//   requests of the calm are not answered in it: OK/s that are back say little then. Clients that wait for their
//   answers are let through as little before the outage as after it, and none of them waits ever longer.
//
// Means are not judged before 100 runs: a few runs that happen to be alike say little about rare
// ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "common/output/expectation.h"
#include "study/cell_result.h"
#include "study/evaluator.h"
#include "study/statistics.h"

namespace retrystorm {

// A plan for the claim that a share of the runs is below a bound, fixed before the first run.
//
// The claim holds if at most `most_for` of all planned runs are hits. A service whose true share is the
// bound, or more, passes with a probability of at most 5 %. The claim is broken if at least
// `least_against` are: a service with a lower share than the bound fails with a probability of at most 5 %.
// In between it is undecided. Looking earlier changes none of these probabilities if the runs only end
// when no further run can change the outcome.

struct Acceptance {
  std::size_t runs = 0;
  double bound = 0;
  std::size_t most_for = 0;
  std::size_t least_against = 0;  // more than `runs` if so few runs cannot break the claim
};

// Empty if so few runs cannot show that a share is below the bound. `misses` replaces the 5 %.
std::optional<Acceptance> acceptance(std::size_t runs, double bound, double misses = kUsualMisses);

// The least number of runs that can show it, if none is a hit.
std::size_t least_runs(double bound, double misses = kUsualMisses);

// The shortest plan with which a service that has a fifth of the bound passes in at least 80 % of cases.
// `bound` is above 0 and below 1.
Acceptance certificate(double bound, double misses = kUsualMisses);

// What is known after some of the runs: so many are hits, and so many may still become hits. The
// judgement has Clopper and Pearson's limits (1934), each of which misses in at most 5 % of cases.
struct Accepted {
  Judgement judgement;
  bool certain = false;  // no further run changes the finding
};
Accepted judge(const Acceptance& plan, std::size_t runs, std::size_t hits, std::size_t open);

class JsonLines;

// The names of all figures that many runs have: those of the table and of a run's summary.
Figures known_figures();

// The figures of a cell by the names of the table's columns, with each verdict's share of the runs.
Figures cell_figures(const CellResult& cell);

// All figures of one run: those of its summary, and the others of the table that has only this run. The table's
// intervals are left out, since one run has none.
Figures one_run_figures(const SimulationResult& run);

struct Look {
  std::size_t runs = 0;          // after which the claims are judged
  double misses = kUsualMisses;  // of its intervals, at both ends together
};
std::vector<Look> looks(std::size_t most);

// "the load is 300/s, and the clients let no more than 120/s through (--client-rate)": then requests wait in the
// clients before any outage, and ever longer. Empty where that is not so, or not known.
std::optional<Statement> held_back(const Scenario& scenario);

struct JudgedRuns {
  std::vector<RunResult> runs;
  std::vector<Judgement> judgements;  // in the order of the expectations
};

// Runs the scenario at most `most` times, with seeds that count up from `seed`. Ends when all claims are
// decided, or one is broken. Returns nothing if the evaluator was stopped.
std::optional<JudgedRuns> judge_runs(const Evaluator& evaluator, const Scenario& scenario,
                                     std::uint64_t seed, std::size_t most,
                                     const std::vector<Expectation>& expectations);

// Judges claims about figures of the table, once, after all runs of a cell.
std::vector<Judgement> judge_once(const std::vector<RunResult>& runs,
                                  const std::vector<Expectation>& expectations);

// The claims that hold, by the judgements of all.
std::vector<Expectation> holding(const std::vector<Expectation>& claims,
                                 const std::vector<Judgement>& judgements);

// Prints a finding and writes it as a line of JSON, with the cell's labels: names with underscores, and values.
void write_finding(std::ostream& out, JsonLines& json, const std::vector<std::string>& names,
                   const std::vector<std::string>& values, const Expectation& expectation,
                   const Judgement& judgement);

}  // namespace retrystorm
