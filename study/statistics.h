// Statistics over many runs.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "model/base/latency.h"

namespace retrystorm {

struct Interval {
  double low = 0;
  double high = 1;
};

// Is `part` of `all` more than half of them?
constexpr bool is_majority(std::size_t part, std::size_t all) {
  return 2 * part > all;
}

// The default probability that an interval misses the true value.
constexpr double kUsualMisses = 0.05;

// The 95 % interval of a share by Wilson's score (1927). Works for few runs and shares near 0 or 1.
// The functions with `misses` take another probability of a miss, up to 50 %.
Interval wilson_interval(std::size_t hits, std::size_t runs, double misses = kUsualMisses);

// `hits` of `runs` runs, with that interval. Empty if there are no runs.
struct Share {
  double value = 0;
  Interval interval{};
};
std::optional<Share> share(std::size_t hits, std::size_t runs, double misses = kUsualMisses);

// The probability of at most so many hits in these runs, each a hit with the probability `share`.
double binomial_at_most(std::size_t hits, std::size_t runs, double share);

// The greatest and the least share that so many hits in these runs leave possible (Clopper and Pearson
// 1934): each alone misses the true share with a probability of at most `misses`, whatever it is.
double greatest_share(std::size_t hits, std::size_t runs, double misses = kUsualMisses);
double least_share(std::size_t hits, std::size_t runs, double misses = kUsualMisses);

// For decisions: Wilson's interval, or Clopper and Pearson's where that is wider. Each end misses with at most half of
// `misses`; Wilson's alone with up to three times as much.
Interval sure_interval(std::size_t hits, std::size_t runs, double misses = kUsualMisses);

// The 95 % interval of the difference of two shares, ours minus theirs, from Wilson's interval of
// each (Newcombe 1998, method 10). For runs with the same seeds, which are correlated, it is wider
// than necessary.
Interval newcombe_interval(std::size_t our_hits, std::size_t our_runs, std::size_t their_hits,
                           std::size_t their_runs);

// A mean over runs, with its 95 % interval by Student's t. One run has no interval.
struct Mean {
  double value = 0;
  std::optional<Interval> interval;
};

Mean mean(const std::vector<double>& values, double misses = kUsualMisses);

// A quantile of times, some of which are censored: a run in which the event was not observed took
// longer than all others. Empty if the quantile falls on one of these, or if there are no times.
// q is in (0, 1].
std::optional<Duration> censored_quantile(std::vector<std::optional<Duration>> times, double q);

// The median of times, or the lower of the two in the middle. If it falls on a time that may be more,
// so may the median. Empty ones are left out.
std::optional<TimeBound> median_bound(const std::vector<std::optional<TimeBound>>& times);

// The 95 % interval of the median of such times, by ranks, which needs no assumption about the
// distribution. An end that falls on a censored time is empty. Fewer than six times have no interval.
struct TimeInterval {
  std::optional<Duration> low, high;
};
std::optional<TimeInterval> censored_median_interval(std::vector<std::optional<Duration>> times,
                                                     double misses = kUsualMisses);

// Two neighbouring steps with different answers.
struct Bracket {
  std::size_t good = 0, bad = 0;
};

// Halves the distance between a good and a bad step, in either order, until they are neighbours. Calls
// `good` for steps between them. `stop` ends it early; the steps are then further apart.
template <typename Good, typename Stop>
Bracket bisect(std::size_t good_step, std::size_t bad_step, const Good& good, const Stop& stop) {
  Bracket bracket{.good = good_step, .bad = bad_step};
  const auto apart = [&bracket] {
    return bracket.good < bracket.bad ? bracket.bad - bracket.good : bracket.good - bracket.bad;
  };
  while (apart() > 1 && !stop()) {
    const std::size_t middle = (bracket.good + bracket.bad) / 2;
    (good(middle) ? bracket.good : bracket.bad) = middle;
  }
  return bracket;
}

}  // namespace retrystorm
