// The header Server-Timing (W3C): how long the request took, according to the server. Only sent to
// clients that ask for it: few requests are traced, and the others should not pay for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/base/duration.h"

namespace retrystorm {

inline constexpr const char* kServerTiming = "Server-Timing";

// The request header that asks for Server-Timing. Its value does not matter.
inline constexpr const char* kAsksForTiming = "Retrystorm-Trace";

// "service;dur=104.123", in milliseconds: the time that a request was in the service.
std::string print_service_time(Duration time);

// The duration of the metric `service`, alone or among others. Returns std::nullopt if there is
// none, or if it is not a valid time.
std::optional<Duration> parse_service_time(std::string_view text);

}  // namespace retrystorm
