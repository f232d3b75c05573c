#include "model/base/random.h"

#include <bit>
#include <cmath>
#include <limits>

namespace retrystorm {

Duration Random::exponential_of(Duration mean) {
  return from_seconds(-natural_log(1 - uniform()) * to_seconds(mean));
}

double Random::normal() {
  double u, v, square;
  do {
    u = uniform(-1, 1);
    v = uniform(-1, 1);
    square = u * u + v * v;
  } while (square >= 1 || square == 0);
  return u * std::sqrt(-2 * natural_log(square) / square);
}

namespace {

// ln 2 in two parts. The lowest 21 bits of the first part are zero, so its product with an exponent
// is exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr int kMantissaBits = 52;
constexpr int kBias = 1023;

double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kBias) << kMantissaBits);
}

}  // namespace

double natural_log(double x) {
  // x = m * 2^e with m in [sqrt(1/2), sqrt(2)). ln m = 2 atanh(s) with s = (m - 1)/(m + 1). The
  // series in s^2 <= 0.0295 ends after the term that is below half a unit in the last place.
  constexpr std::uint64_t kSqrtHalfBits = 0x3fe6a09e667f3bcd;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto shifted = static_cast<std::int64_t>(bits - kSqrtHalfBits) >> kMantissaBits;
  const double m =
      std::bit_cast<double>(bits - (static_cast<std::uint64_t>(shifted) << kMantissaBits));
  const auto e = static_cast<double>(shifted);

  const double s = (m - 1) / (m + 1);
  const double z = s * s;
  double series = 1.0 / 21;
  series = series * z + 1.0 / 19;
  series = series * z + 1.0 / 17;
  series = series * z + 1.0 / 15;
  series = series * z + 1.0 / 13;
  series = series * z + 1.0 / 11;
  series = series * z + 1.0 / 9;
  series = series * z + 1.0 / 7;
  series = series * z + 1.0 / 5;
  series = series * z + 1.0 / 3;
  return e * kLn2High + (2 * s + (2 * s * z * series + e * kLn2Low));
}

double exponential(double x) {
  if (x > 709.78) return std::numeric_limits<double>::infinity();
  if (x < -708.0) return 0;
  // x = k ln 2 + r with |r| <= ln 2 / 2. The Taylor series of e^r ends after the term r^14 / 14!, which
  // is below half a unit in the last place.
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  const auto k = static_cast<int>(x * kLog2E + (x < 0 ? -0.5 : 0.5));
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double series = 1;
  for (int n = 14; n >= 1; --n) series = series * r / n + 1;
  // In two steps, because k may be 1024: 2^1024 does not fit in a double, but the product may.
  return series * power_of_two(k / 2) * power_of_two(k - k / 2);
}

double normal_quantile(double p) {
  const auto [low, high] =
      find_crossing(-6, 6, [p](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2 < p; });
  return (low + high) / 2;
}

}  // namespace retrystorm
