#include "study/statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/base/random.h"

namespace retrystorm {

namespace {

// The value that a normal variate exceeds, in either direction, with the probability `misses`.
double normal_z(double misses) {
  const auto is_below = [misses](double z) { return std::erfc(z / std::sqrt(2.0)) > misses; };
  return find_crossing(0, 40, is_below).high;
}

// The same value of Student's distribution. One and two degrees of freedom have closed forms. From
// three on, Fisher's expansion (1926) is off by less than 0.8 % if `misses` is 5 %.
double student_t(double degrees, double misses) {
  constexpr double kPi = 3.141592653589793;
  if (degrees < 1.5) return 1 / std::tan(kPi * misses / 2);
  if (degrees < 2.5) return (1 - misses) * std::sqrt(2 / (misses * (2 - misses)));
  const double z = normal_z(misses), z2 = z * z;
  return z + z * (z2 + 1) / (4 * degrees) +
         z * ((5 * z2 + 16) * z2 + 3) / (96 * degrees * degrees) +
         z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * degrees * degrees * degrees);
}

// The interval of the median of n values reaches from the value of this rank, counted from 1, to the
// value of the same rank from the end. 0: too few values for an interval.
std::size_t rank_of_low_end(std::size_t n, double misses) {
  // The median is below the value of rank j with the probability that fewer than j of n tosses of a coin
  // are heads. The result is the largest j for which this is at most half of `misses`. Logarithms are
  // used because half to the power of n may underflow.
  double at_most = 0;
  double exactly = -static_cast<double>(n) * std::log(2.0);
  for (std::size_t j = 0; j <= n / 2; ++j) {
    at_most += std::exp(exactly);
    if (at_most > misses / 2) return j;
    exactly += std::log(static_cast<double>(n - j) / static_cast<double>(j + 1));
  }
  return 0;
}

// Sorts censored times last.
bool is_earlier(const std::optional<Duration>& a, const std::optional<Duration>& b) {
  return a.value_or(Duration::max()) < b.value_or(Duration::max());
}

}  // namespace

Interval wilson_interval(std::size_t hits, std::size_t runs, double misses) {
  if (runs == 0) return {};
  const double z = normal_z(misses);
  const auto n = static_cast<double>(runs);
  const double share = static_cast<double>(hits) / n;
  const double centre = share + z * z / (2 * n);
  const double spread = z * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  const double scale = 1 + z * z / n;
  // These ends are exact. Rounding would leave an end beside a bound of 0 or 100 %.
  return {hits == 0 ? 0 : std::max((centre - spread) / scale, 0.0),
          hits == runs ? 1 : std::min((centre + spread) / scale, 1.0)};
}

std::optional<Share> share(std::size_t hits, std::size_t runs, double misses) {
  if (runs == 0) return std::nullopt;
  return Share{static_cast<double>(hits) / static_cast<double>(runs),
               wilson_interval(hits, runs, misses)};
}

double binomial_at_most(std::size_t hits, std::size_t runs, double share) {
  if (hits >= runs || share <= 0) return 1;
  if (share >= 1) return 0;
  // Logarithms are used because the first terms may underflow.
  const double odds = std::log(share) - std::log1p(-share);
  double exactly = static_cast<double>(runs) * std::log1p(-share), sum = 0;
  for (std::size_t j = 0; j <= hits; ++j) {
    sum += std::exp(exactly);
    exactly += std::log(static_cast<double>(runs - j) / static_cast<double>(j + 1)) + odds;
  }
  return std::min(sum, 1.0);
}

double greatest_share(std::size_t hits, std::size_t runs, double misses) {
  if (hits >= runs) return 1;
  const auto is_below = [=](double share) { return binomial_at_most(hits, runs, share) > misses; };
  return find_crossing(0, 1, is_below).high;
}

double least_share(std::size_t hits, std::size_t runs, double misses) {
  return 1 - greatest_share(runs - hits, runs, misses);
}

Interval sure_interval(std::size_t hits, std::size_t runs, double misses) {
  const Interval wilson = wilson_interval(hits, runs, misses);
  const std::size_t others = runs - hits;
  constexpr std::size_t kEnough = 1000;  // of both: then these are hardly different
  if (std::min(hits, others) > kEnough) return wilson;
  if (others < hits) {
    const Interval mirrored = sure_interval(others, runs, misses);
    return {1 - mirrored.high, 1 - mirrored.low};
  }
  return {std::min(wilson.low, least_share(hits, runs, misses / 2)),
          std::max(wilson.high, greatest_share(hits, runs, misses / 2))};
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

Mean mean(const std::vector<double>& values, double misses) {
  Mean result;
  if (values.empty()) return result;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) result.value += value / n;
  if (values.size() < 2) return result;
  double variance = 0;
  for (const double value : values) variance += (value - result.value) * (value - result.value);
  const double spread = student_t(n - 1, misses) * std::sqrt(variance / (n - 1) / n);
  result.interval = {result.value - spread, result.value + spread};
  return result;
}

std::optional<Duration> censored_quantile(std::vector<std::optional<Duration>> times, double q) {
  if (times.empty()) return std::nullopt;
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(times.size())));
  const auto at = times.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(times.begin(), at, times.end(), is_earlier);
  return *at;
}

std::optional<TimeBound> median_bound(const std::vector<std::optional<TimeBound>>& times) {
  std::vector<TimeBound> all;
  for (const auto& time : times) {
    if (time) all.push_back(*time);
  }
  if (all.empty()) return std::nullopt;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
  std::nth_element(all.begin(), middle, all.end(), [](const TimeBound& a, const TimeBound& b) {
    return std::pair(a.time, a.or_more) < std::pair(b.time, b.or_more);
  });
  return *middle;
}

std::optional<TimeInterval> censored_median_interval(std::vector<std::optional<Duration>> times,
                                                     double misses) {
  const std::size_t j = rank_of_low_end(times.size(), misses);
  if (j == 0) return std::nullopt;
  std::sort(times.begin(), times.end(), is_earlier);
  return TimeInterval{times[j - 1], times[times.size() - j]};
}

}  // namespace retrystorm
