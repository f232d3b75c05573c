// The quantiles of the standard normal distribution.
#pragma once

namespace retrystorm {

// A standard normal number is below the result with probability `p`, 0 < p < 1. The result is
// between -6 and 6.
double normal_quantile(double p);

}  // namespace retrystorm
