// A plan for the claim that a share of the runs is below a bound, fixed before the first run.
//
// The claim holds if at most `most_for` of all planned runs are hits. A service whose true share is the
// bound, or more, passes with a probability of at most 5 %. The claim is broken if at least
// `least_against` are: a service with a lower share than the bound fails with a probability of at most 5 %.
// In between it is undecided. Looking earlier changes none of these probabilities if the runs only end
// when no further run can change the outcome.
#pragma once

#include <cstddef>
#include <optional>

#include "common/output/expectation.h"
#include "study/statistics.h"

namespace retrystorm {

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

}  // namespace retrystorm
