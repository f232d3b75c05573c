// What a retry policy is told of an attempt that has ended.
#pragma once

#include <optional>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/outcome.h"

namespace retrystorm {

// What sort of failure it was, as libraries tell them apart.
enum class Failure {
  kNone,       // it was a success
  kThrottled,  // the service asks for less: 429, 503 with a Retry-After, 400 that says so
  kTransient,  // 408, another 5xx than 501, refused, reset: it may be well the next time
  kTimedOut,   // no answer within the timeout
  kPermanent,  // any other status: it may well be the same the next time
};

struct AttemptResult {
  Outcome outcome = Outcome::kOk;
  Failure failure = Failure::kNone;
  int status = 0;                         // of the answer, where it was no success; 0 without one
  std::optional<Duration> retry_after{};  // what the server asked for, if it did
  Duration latency{0};                    // from sending to the answer, or to the timeout
  // Did the service take it on, whatever became of it then? Not so 429, 503, a 400 that asks for
  // less, a connection that was refused or reset, and no answer at all.
  bool accepted = true;
};

// An answer with this HTTP status. `retry_after` as the answer had it; `error_name` what it calls
// the error, empty without a name.
AttemptResult answered(int status, std::optional<Duration> retry_after, Duration latency,
                       std::string_view error_name = {});

// Is it by one of these names that a service of AWS asks for less? With the service's name before a
// '#', and an address behind a ':', as they come.
bool names_throttling(std::string_view error_name);

// No answer, because the connection was refused, reset or closed.
inline AttemptResult not_connected(Duration latency) {
  return {.outcome = Outcome::kError,
          .failure = Failure::kTransient,
          .latency = latency,
          .accepted = false};
}

inline AttemptResult timed_out(Duration latency) {
  return {.outcome = Outcome::kTimedOut,
          .failure = Failure::kTimedOut,
          .latency = latency,
          .accepted = false};
}

}  // namespace retrystorm
