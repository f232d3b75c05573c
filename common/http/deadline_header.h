// The headers in which an attempt carries along its number and how much time it has left. They are those of Envoy.
#pragma once

#include <httplib.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/base/duration.h"

namespace retrystorm {

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

}  // namespace retrystorm
