// The state of one client between its attempts.
#pragma once

#include <cstdint>

#include "model/base/duration.h"

namespace retrystorm {

// Half a cache line, because there may be millions of clients. Each member belongs to one part of
// the policy. No other part reads or writes it.
struct RetryState {
  // Of the current request:
  Duration backoff{0};             // the wait that the next one grows from
  TimePoint begun{};               // when its first attempt was asked for
  std::uint32_t retries : 28 = 0;  // until now; stays at its maximum
  std::uint32_t paid : 4 = 0;      // the charge for the last retry, in a code of the budget

  // Of the client:
  std::uint32_t successes : 31 = 0;  // pacer: counted since the last step down
  std::uint32_t reserved : 1 =
      0;              // gates: is the attempt that it waits for let through by the first one?
  Duration pause{0};  // pacer: before and after each attempt; 0 without recent failures

  void count_retry() {
    if (retries < kMostRetries) ++retries;
  }
  static constexpr std::uint32_t kMostRetries = (1u << 28) - 1;
};
static_assert(sizeof(RetryState) == 32);

}  // namespace retrystorm
