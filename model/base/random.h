// Randomness as the model takes it: from outside, and the same on every machine.
#pragma once

#include <cstdint>

#include "model/base/duration.h"

namespace retrystorm {

// A stream of random numbers, and the distributions of the experiment written out over it.
// Not for use from two threads at once.
class Random {
 public:
  virtual ~Random() = default;

  // Uniform in [0, 1).
  virtual double uniform() = 0;

  // Uniform in [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  // Exponentially distributed with this mean: -ln(1-u) * mean.
  Duration exponential(Duration mean);

  // Normal with mean 0 and standard deviation 1, by Marsaglia's polar method.
  double normal();

 protected:
  Random() = default;
  Random(const Random&) = default;
  Random& operator=(const Random&) = default;
};

// The stream of one client: it depends on the seed and the client's index alone, so that no
// interleaving of threads changes it. SplitMix64 (Steele, Lea, Flood 2014) from a hashed start.
class ClientRandom final : public Random {
 public:
  ClientRandom(std::uint64_t seed, std::uint64_t client);

  // Goes on from a state that `state()` returned: for an engine that keeps millions of streams.
  explicit ClientRandom(std::uint64_t state) : state_(state) {}
  std::uint64_t state() const { return state_; }

  using Random::uniform;
  double uniform() override;

 private:
  std::uint64_t state_;
};

}  // namespace retrystorm
