// The header Retry-After of RFC 9110, section 10.2.3, as an answer has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/base/duration.h"

namespace retrystorm {

// Whole seconds, or a date like "Sun, 06 Nov 1994 08:49:37 GMT", of which the time from `now` (Unix
// time, in seconds) is meant, 0 if it is past. Nothing when the text is anything else, or is more
// than thirty years.
std::optional<Duration> parse_retry_after(std::string_view text, std::int64_t now);

}  // namespace retrystorm
