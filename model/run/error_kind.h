// The kinds of errors that reports distinguish.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/retry/attempt_result.h"

namespace retrystorm {

// The names in reports: statuses, groups of all other statuses, and why there was no answer.
inline constexpr std::array<std::string_view, 13> kErrorKinds{
    "400", "404", "429",          "500",     "502",   "503",        "504",
    "4xx", "5xx", "other_status", "refused", "reset", "unreachable"};

// How many errors there were of each kind. Those without an answer and without a known reason are
// in none of them.
using ErrorCounts = std::array<std::uint64_t, kErrorKinds.size()>;

// The kind of an error, as an index into `kErrorKinds`, or `kErrorKinds.size()` if it has none.
std::size_t error_kind(const AttemptResult& error);

}  // namespace retrystorm
