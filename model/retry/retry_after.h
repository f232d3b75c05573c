// The server's hint when to come again: the header Retry-After of RFC 9110, section 10.2.3.
#pragma once

#include <optional>
#include <string_view>

#include "model/base/duration.h"

namespace retrystorm {

// Whole seconds of 0 or more. Nothing when the text is anything else.
std::optional<Duration> parse_retry_after(std::string_view text);

}  // namespace retrystorm
