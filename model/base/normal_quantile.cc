#include "model/base/normal_quantile.h"

#include <cmath>

#include "model/base/crossing.h"

namespace retrystorm {

double normal_quantile(double p) {
  const auto [low, high] =
      find_crossing(-6, 6, [p](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2 < p; });
  return (low + high) / 2;
}

}  // namespace retrystorm
