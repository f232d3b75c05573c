// What many runs say together.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/base/duration.h"

namespace retrystorm {

struct Interval {
  double low = 0;
  double high = 1;
};

// The 95 % interval of a share, by Wilson's score (1927): good for few runs and shares near 0 or 1.
Interval wilson_interval(std::size_t hits, std::size_t runs);

// The 95 % interval of the difference of two shares, ours less theirs: from Wilson's of each
// (Newcombe 1998, method 10). For runs of the same seeds, which go up and down together, it is
// wider than need be.
Interval newcombe_interval(std::size_t our_hits, std::size_t our_runs, std::size_t their_hits,
                           std::size_t their_runs);

// A mean over runs, with its 95 % interval by Student's t; one run has none.
struct Mean {
  double value = 0;
  std::optional<Interval> interval;
};

Mean mean(const std::vector<double>& values);

// The median of values, the lower of the two in the middle, and its 95 % interval by the ranks that
// enclose it whatever the distribution is; fewer than six values have none.
struct Median {
  double value = 0;
  std::optional<Interval> interval;
};

Median median(std::vector<double> values);

// A quantile of times some of which are censored: a run in which the event did not happen while it
// was observed took longer than all others. Nothing when the quantile falls on one of these.
// q in (0, 1]; nothing for no times.
std::optional<Duration> censored_quantile(std::vector<std::optional<Duration>> times, double q);

// The 95 % interval of the median of such times, by ranks as that of `Median`; an end that falls on
// a censored one is nothing. Fewer than six times have none.
struct TimeInterval {
  std::optional<Duration> low, high;
};
std::optional<TimeInterval> censored_median_interval(std::vector<std::optional<Duration>> times);

}  // namespace retrystorm
