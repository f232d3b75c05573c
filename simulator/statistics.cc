#include "simulator/statistics.h"

#include <algorithm>
#include <cmath>

namespace retrystorm {

namespace {

constexpr double kZ = 1.959963984540054;  // the normal distribution's 97.5 % quantile

// That of Student's distribution. One and two degrees of freedom have closed forms; from three on
// Fisher's expansion (1926) is off by less than 0.8 %.
double student_t(double degrees) {
  if (degrees < 1.5) return 12.706204736;
  if (degrees < 2.5) return 4.302652730;
  const double z2 = kZ * kZ;
  return kZ + kZ * (z2 + 1) / (4 * degrees) +
         kZ * ((5 * z2 + 16) * z2 + 3) / (96 * degrees * degrees) +
         kZ * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * degrees * degrees * degrees);
}

// The 95 % interval of the median of n values goes from the value of this rank, counted from 1, to
// that of the same rank from the end. 0: so few have none.
std::size_t rank_of_low_end(std::size_t n) {
  // The median is below the value of rank j + 1 in more than 2.5 % of cases as soon as at most j
  // of n tosses of a coin are heads that often. By logarithms: half to the power of n may be too
  // small for a number.
  double at_most = 0;
  double exactly = -static_cast<double>(n) * std::log(2.0);
  for (std::size_t j = 0; j <= n / 2; ++j) {
    at_most += std::exp(exactly);
    if (at_most > 0.025) return j;
    exactly += std::log(static_cast<double>(n - j) / static_cast<double>(j + 1));
  }
  return 0;
}

// Censored times last.
bool is_earlier(const std::optional<Duration>& a, const std::optional<Duration>& b) {
  return a.value_or(Duration::max()) < b.value_or(Duration::max());
}

}  // namespace

Interval wilson_interval(std::size_t hits, std::size_t runs) {
  if (runs == 0) return {};
  const auto n = static_cast<double>(runs);
  const double share = static_cast<double>(hits) / n;
  const double centre = share + kZ * kZ / (2 * n);
  const double spread = kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  const double scale = 1 + kZ * kZ / n;
  return {std::max((centre - spread) / scale, 0.0), std::min((centre + spread) / scale, 1.0)};
}

Interval newcombe_interval(std::size_t our_hits, std::size_t our_runs, std::size_t their_hits,
                           std::size_t their_runs) {
  if (our_runs == 0 || their_runs == 0) return {-1, 1};
  const Interval ours = wilson_interval(our_hits, our_runs);
  const Interval theirs = wilson_interval(their_hits, their_runs);
  const double our = static_cast<double>(our_hits) / static_cast<double>(our_runs);
  const double their = static_cast<double>(their_hits) / static_cast<double>(their_runs);
  return {our - their - std::hypot(our - ours.low, theirs.high - their),
          our - their + std::hypot(ours.high - our, their - theirs.low)};
}

Mean mean(const std::vector<double>& values) {
  Mean result;
  if (values.empty()) return result;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) result.value += value / n;
  if (values.size() < 2) return result;
  double variance = 0;
  for (const double value : values) variance += (value - result.value) * (value - result.value);
  const double spread = student_t(n - 1) * std::sqrt(variance / (n - 1) / n);
  result.interval = {result.value - spread, result.value + spread};
  return result;
}

Median median(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  Median result{.value = values[(n - 1) / 2], .interval = {}};
  if (const std::size_t j = rank_of_low_end(n); j > 0) {
    result.interval = {values[j - 1], values[n - j]};
  }
  return result;
}

std::optional<Duration> censored_quantile(std::vector<std::optional<Duration>> times, double q) {
  if (times.empty()) return std::nullopt;
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(times.size())));
  const auto at = times.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(times.begin(), at, times.end(), is_earlier);
  return *at;
}

std::optional<TimeInterval> censored_median_interval(std::vector<std::optional<Duration>> times) {
  const std::size_t j = rank_of_low_end(times.size());
  if (j == 0) return std::nullopt;
  std::sort(times.begin(), times.end(), is_earlier);
  return TimeInterval{times[j - 1], times[times.size() - j]};
}

}  // namespace retrystorm
