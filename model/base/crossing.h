// Finds where a condition on numbers changes from true to false.
#pragma once

namespace retrystorm {

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

}  // namespace retrystorm
