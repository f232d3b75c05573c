// Random numbers, passed to the model from outside. They are the same on every machine.
#pragma once

#include <cstdint>

#include "model/base/duration.h"

namespace retrystorm {

// Mathematics with the same result on every machine: two elementary functions, where a condition changes, and the
// quantiles of the standard normal distribution.
//
// The C library's `log` and `exp` differ in the last bit between versions and processors. One bit
// is enough to reorder two events of a long simulation. These functions use only operations that IEEE
// 754 rounds exactly. They agree with the C library within 4 units in the last place.

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

// A stream of random numbers, with the distributions that the model draws from. Not thread-safe.
class Random {
 public:
  virtual ~Random() = default;

  // Uniform in [0, 1).
  virtual double uniform() = 0;

  // Uniform in [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  // Exponentially distributed with this mean: -ln(1-u) * mean.
  Duration exponential(Duration mean) {
    if (mean != Duration::zero()) return exponential_of(mean);
    uniform();  // a service has no think time; the stream goes on as with one
    return mean;
  }

  // Normal with mean 0 and standard deviation 1, by Marsaglia's polar method.
  double normal();

 protected:
  Random() = default;
  Random(const Random&) = default;
  Random& operator=(const Random&) = default;

 private:
  Duration exponential_of(Duration mean);
};

// The random stream of one client. It depends only on the seed and the client's index, so the order
// in which threads run does not change it. SplitMix64 (Steele, Lea, Flood 2014) from a hashed
// start.
class ClientRandom final : public Random {
 public:
  ClientRandom(std::uint64_t seed, std::uint64_t client)
      : state_(mix(mix(seed + kGoldenGamma) + (client + 1) * kGoldenGamma)) {}

  // Continues from a state that `state()` returned, for an engine that keeps millions of streams.
  explicit ClientRandom(std::uint64_t state) : state_(state) {}
  std::uint64_t state() const { return state_; }

  using Random::uniform;
  double uniform() override {
    state_ += kGoldenGamma;
    return static_cast<double>(mix(state_) >> 11) * 0x1p-53;
  }

 private:
  static constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15;

  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace retrystorm
