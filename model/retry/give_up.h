// Why a request has failed for good.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace retrystorm {

enum class GiveUp : std::uint8_t {
  kAttempts,      // as many retries as the limit allows
  kDeadline,      // the time for the whole request is over, or would be before the next attempt
  kBudget,        // the retry budget of its process was empty
  kGate,          // a gate of its process did not let it be sent
  kNotRetryable,  // a failure of a kind that is not retried
};

// Their names in reports, in the order of the enumeration.
inline constexpr std::array<std::string_view, 5> kGiveUpNames{"attempts", "deadline", "budget",
                                                              "gate", "not_retryable"};

// How many requests were given up for each reason.
using GiveUpCounts = std::array<std::uint64_t, kGiveUpNames.size()>;

}  // namespace retrystorm
