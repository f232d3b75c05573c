// The header Server-Timing (W3C): how long the server says that an answer took it, for clients that
// ask. Few requests are followed, and the others should not pay for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/base/duration.h"

namespace retrystorm {

inline constexpr const char* kServerTiming = "Server-Timing";

// Of a request whose answer is to have it, whatever its value.
inline constexpr const char* kAsksForTiming = "Retrystorm-Trace";

// "service;dur=104.123", in milliseconds: the time that a request was in the service.
std::string print_service_time(Duration time);

// The duration of the metric `service`, among others or alone. Nothing when there is none, or it is
// no time.
std::optional<Duration> parse_service_time(std::string_view text);

}  // namespace retrystorm
