// Mathematics with the same result on every machine: two elementary functions, where a condition changes, and the
// quantiles of the standard normal distribution.
//
// The C library's `log` and `exp` differ in the last bit between versions and processors. One bit
// is enough to reorder two events of a long simulation. These functions use only operations that IEEE
// 754 rounds exactly. They agree with the C library within 4 units in the last place.
#pragma once

namespace retrystorm {

// The natural logarithm of a positive, finite, normal number.
double natural_log(double x);

// e to the power of x. Below -708 the result is 0, and above 709.78 it is infinity.
double exponential(double x);

// The condition is true at `low` and false at `high`. Between them are no other numbers, unless they
// are near 0.
struct Crossing {
  double low = 0, high = 0;
};

// `is_below` is true below the number that is sought, and false above it.
template <typename IsBelow>
Crossing find_crossing(double low, double high, const IsBelow& is_below) {
  constexpr int kSteps = 100;  // each halves the interval
  for (int i = 0; i < kSteps; ++i) {
    const double middle = (low + high) / 2;
    (is_below(middle) ? low : high) = middle;
  }
  return {low, high};
}

// A standard normal number is below the result with probability `p`, 0 < p < 1. The result is
// between -6 and 6.
double normal_quantile(double p);

}  // namespace retrystorm
