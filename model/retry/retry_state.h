// What is remembered of one client between its attempts.
#pragma once

#include <cstdint>

#include "model/base/duration.h"

namespace retrystorm {

// Half a line of the cache, for there may be millions. Each member belongs to one part of the
// policy, which alone reads and writes it.
struct RetryState {
  // Of the request at hand:
  Duration backoff{0};             // the wait from which the next one grows
  TimePoint begun{};               // when its first attempt was asked for
  std::uint32_t retries : 28 = 0;  // so far; stays at its greatest value
  std::uint32_t paid : 4 = 0;      // what the budget was charged for the last retry: its own code

  // Of the client:
  std::uint32_t successes = 0;  // pacer: counted since the last step down
  Duration pause{0};            // pacer: before and after each attempt, 0 while all is well

  void count_retry() {
    if (retries < kMostRetries) ++retries;
  }
  static constexpr std::uint32_t kMostRetries = (1u << 28) - 1;
};
static_assert(sizeof(RetryState) == 32);

}  // namespace retrystorm
