// The header Retry-After (RFC 9110, section 10.2.3).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/base/duration.h"

namespace retrystorm {

// Reads whole seconds, or a date like "Sun, 06 Nov 1994 08:49:37 GMT". For a date, returns the time
// from `now` (Unix time, in seconds), or 0 if it is past. Returns nothing for any other text and
// for more than thirty years.
std::optional<Duration> parse_retry_after(std::string_view text, std::int64_t now);

}  // namespace retrystorm
