#include "study/acceptance.h"

#include <cmath>

#include "study/statistics.h"

namespace retrystorm {

std::optional<Acceptance> acceptance(std::size_t runs, double bound, double misses) {
  if (!(bound > 0) || runs < least_runs(bound, misses)) return std::nullopt;
  Acceptance plan{.runs = runs, .bound = bound, .most_for = 0, .least_against = 1};
  while (binomial_at_most(plan.most_for + 1, runs, bound) <= misses) ++plan.most_for;
  while (plan.least_against <= runs &&
         1 - binomial_at_most(plan.least_against - 1, runs, bound) > misses) {
    ++plan.least_against;
  }
  return plan;
}

std::size_t least_runs(double bound, double misses) {
  if (bound >= 1) return 1;
  return static_cast<std::size_t>(std::ceil(std::log(misses) / std::log1p(-bound)));
}

Acceptance certificate(double bound, double misses) {
  constexpr double kGood = 0.2, kPasses = 0.8;
  std::size_t runs = least_runs(bound, misses);
  for (std::size_t most = 0;; ++most) {
    // The fewest runs of which so many may be hits.
    std::size_t enough = runs;
    while (binomial_at_most(most, enough, bound) > misses) enough *= 2;
    const auto shows = [&](std::size_t n) { return binomial_at_most(most, n, bound) <= misses; };
    if (!shows(runs)) runs = bisect(enough, runs, shows, [] { return false; }).good;
    if (binomial_at_most(most, runs, kGood * bound) >= kPasses) break;
  }
  return *acceptance(runs, bound, misses);
}

Accepted judge(const Acceptance& plan, std::size_t runs, std::size_t hits, std::size_t open) {
  Accepted result;
  Judgement& judgement = result.judgement;
  judgement.runs = runs;
  if (runs == 0) return result;
  judgement.value = static_cast<double>(hits) / static_cast<double>(runs);
  judgement.low = least_share(hits, runs);
  judgement.high = greatest_share(hits + open, runs);
  const std::size_t left = plan.runs - runs;
  if (hits >= plan.least_against) {
    judgement.finding = Finding::kBroken;
  } else if (hits + open + left <= plan.most_for) {
    judgement.finding = Finding::kHolds;
  } else {
    if (hits <= plan.most_for) judgement.recovering = left == 0 ? open : 0;
    result.certain = hits > plan.most_for && hits + left < plan.least_against;
    return result;
  }
  result.certain = true;
  return result;
}

}  // namespace retrystorm
