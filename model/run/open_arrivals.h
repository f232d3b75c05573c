// When requests come from outside: a Poisson process that is the same in every engine.
#pragma once

#include <cstdint>
#include <limits>

#include "model/base/duration.h"
#include "model/base/random.h"

namespace retrystorm {

// The times between arrivals, of a stream of their own, apart from every request's. The request
// that arrives as the n-th (from 0) draws from `ClientRandom(seed, n)`. Not for use from two
// threads at once.
class OpenArrivals {
 public:
  // `rate` > 0: requests a second on average.
  OpenArrivals(std::uint64_t seed, double rate)
      : random_(seed, kStream), mean_(from_seconds(1 / rate)) {}

  // From one arrival to the next; at first from the start of the run.
  Duration next_gap() { return random_.exponential(mean_); }

 private:
  static constexpr std::uint64_t kStream = std::numeric_limits<std::uint64_t>::max() - 1;

  ClientRandom random_;
  Duration mean_;
};

}  // namespace retrystorm
