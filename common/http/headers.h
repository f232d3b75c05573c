// The headers that say more of an attempt: Retry-After, the time left, Server-Timing, and AWS's names of errors.
#pragma once

#include <httplib.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/base/duration.h"

namespace retrystorm {

// Reads whole seconds, or a date like "Sun, 06 Nov 1994 08:49:37 GMT". For a date, returns the time
// from `now` (Unix time, in seconds), or 0 if it is past. Returns nothing for any other text and
// for more than thirty years.
std::optional<Duration> parse_retry_after(std::string_view text, std::int64_t now);

inline constexpr const char* kServerTiming = "Server-Timing";

// The request header that asks for Server-Timing. Its value does not matter.
inline constexpr const char* kAsksForTiming = "Retrystorm-Trace";

// "service;dur=104.123", in milliseconds: the time that a request was in the service.
std::string print_service_time(Duration time);

// The duration of the metric `service`, alone or among others. Returns std::nullopt if there is
// none, or if it is not a valid time.
std::optional<Duration> parse_service_time(std::string_view text);

// Whole milliseconds until the caller gives up, counted from when the request is read: clocks differ.
inline constexpr const char* kTimeLeft = "x-envoy-expected-rq-timeout-ms";
// 1 for the first attempt of a request.
inline constexpr const char* kAttemptNumber = "x-envoy-attempt-count";
// "no" in an answer: the request should not be retried.
inline constexpr const char* kRetry = "Retrystorm-Retry";

// What an attempt carries along.
struct Carried {
  std::uint32_t number = 0;         // of the attempt; 0: it is not told
  bool patience = false;            // the time until the attempt's timeout?
  Duration left = Duration::max();  // until then, or until this; `Duration::max()`: no time is told

  // `timeout`: how long the attempt may take from now on.
  void add_to(httplib::Headers& headers, Duration timeout) const;
};

// The time that the head of a request says is left: `Duration::max()` if it says nothing that can be read as such.
// Empty if the head is not complete.
std::optional<Duration> parse_time_left(std::string_view head);

// The same for the request that lies unread on a connection. It stays unread.
std::optional<Duration> peek_time_left(int connection);

// The header that has the name if the body does not.
inline constexpr const char* kErrorTypeHeader = "x-amzn-ErrorType";

// The name in an answer's JSON body. It may be preceded by the service's name and '#'. Empty if
// there is none.
std::string parse_error_name(std::string_view body);

// True if this error name means throttling. The name may be preceded by the service's name and '#',
// and followed by ':' and an address.
bool names_throttling(std::string_view error_name);

// The body of DynamoDB's throttling error, and its content type.
std::string print_throttling_error();
inline constexpr const char* kErrorContentType = "application/x-amz-json-1.0";

}  // namespace retrystorm
