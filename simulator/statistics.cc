#include "simulator/statistics.h"

#include <algorithm>
#include <cmath>

namespace retrystorm {

Interval wilson_interval(std::size_t hits, std::size_t runs) {
  if (runs == 0) return {};
  constexpr double kZ = 1.959963984540054;  // the normal distribution's 97.5 % quantile
  const auto n = static_cast<double>(runs);
  const double share = static_cast<double>(hits) / n;
  const double centre = share + kZ * kZ / (2 * n);
  const double spread = kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  const double scale = 1 + kZ * kZ / n;
  return {std::max((centre - spread) / scale, 0.0), std::min((centre + spread) / scale, 1.0)};
}

std::optional<Duration> censored_quantile(std::vector<std::optional<Duration>> times, double q) {
  if (times.empty()) return std::nullopt;
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(times.size())));
  const auto at = times.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  const auto value = [](const std::optional<Duration>& time) {
    return time.value_or(Duration::max());
  };
  std::nth_element(times.begin(), at, times.end(),
                   [&](const auto& a, const auto& b) { return value(a) < value(b); });
  return *at;
}

}  // namespace retrystorm
