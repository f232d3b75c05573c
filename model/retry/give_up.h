// Why a request has finally failed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace retrystorm {

enum class GiveUp : std::uint8_t {
  kAttempts,      // the limit on retries was reached
  kDeadline,      // the request's deadline has passed, or would pass before the next attempt
  kBudget,        // the retry budget of the process refused the retry
  kGate,          // a gate of the process refused the attempt
  kNotRetryable,  // this kind of failure is not retried
};

// The names in reports, in the order of the enumeration.
inline constexpr std::array<std::string_view, 5> kGiveUpNames{"attempts", "deadline", "budget",
                                                              "gate", "not_retryable"};

// How many requests were given up for each reason.
using GiveUpCounts = std::array<std::uint64_t, kGiveUpNames.size()>;

}  // namespace retrystorm
