// Open arrivals: a Poisson process that is the same in every engine.
#pragma once

#include <cstdint>
#include <limits>

#include "model/base/duration.h"
#include "model/base/random.h"

namespace retrystorm {

// The times between arrivals. They have a separate random stream, independent of the requests. The
// n-th request to arrive (from 0) draws from `ClientRandom(seed, n)`. Not thread-safe.
class OpenArrivals {
 public:
  // `rate` > 0: mean requests per second.
  OpenArrivals(std::uint64_t seed, double rate)
      : random_(seed, kStream), mean_(from_seconds(1 / rate)) {}

  // The time until the next arrival, counted from the last one, or from the start of the run.
  Duration next_gap() { return random_.exponential(mean_); }

 private:
  static constexpr std::uint64_t kStream = std::numeric_limits<std::uint64_t>::max() - 1;

  ClientRandom random_;
  Duration mean_;
};

}  // namespace retrystorm
