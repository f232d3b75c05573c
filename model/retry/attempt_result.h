// The result of an attempt, as a retry policy sees it.
#pragma once

#include <optional>

#include "model/base/duration.h"
#include "model/base/outcome.h"

namespace retrystorm {

// The kind of failure, as client libraries distinguish them.
enum class Failure {
  kNone,       // it was a success
  kThrottled,  // the service asks for less load: 429, 503 with Retry-After, 400 that says so
  kTransient,  // 408, 5xx other than 501, refused, reset: a retry may well succeed
  kTimedOut,   // no answer within the timeout
  kPermanent,  // any other status: a retry would probably fail again
};

// Why there was no answer.
enum class NoAnswer {
  kRefused,      // nothing listens
  kReset,        // the connection was reset or closed before an answer
  kUnreachable,  // no way to the host, or it did not take the connection
  kOther,
};

struct AttemptResult {
  Outcome outcome = Outcome::kOk;
  Failure failure = Failure::kNone;
  int status = 0;                         // of an answer that is not a success; 0 without one
  NoAnswer no_answer = NoAnswer::kOther;  // of an error without an answer
  std::optional<Duration> retry_after{};  // as the server asked, if it did
  Duration latency{0};                    // from sending to the answer or the timeout
  // Did the service accept the attempt, whatever its result? False for 429, 503, a 400 that asks
  // for less load, a connection refused or reset, and no answer at all.
  bool accepted = true;
  bool no_retry = false;  // the service said that it should not be retried
  // Without an answer: it was sent on a connection that was kept from before, and the connection ended
  // before any of the answer. So the server may have been closing it as the request arrived.
  bool lost = false;
};

// The result of an answer with this HTTP status. `retry_after`: the hint in the answer, if any.
// `asks_for_less`: does the answer's body or header ask for less load? It counts only with the status
// 400.
AttemptResult answered(int status, std::optional<Duration> retry_after, Duration latency,
                       bool asks_for_less = false);

// No answer: the connection was refused, reset or closed.
inline AttemptResult not_connected(Duration latency, NoAnswer why = NoAnswer::kOther) {
  return {.outcome = Outcome::kError,
          .failure = Failure::kTransient,
          .no_answer = why,
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
