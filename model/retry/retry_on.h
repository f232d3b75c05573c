// Which failures are retried. Any other failure ends the request at once.
#pragma once

#include <bitset>
#include <string>
#include <string_view>

#include "model/retry/attempt_result.h"

namespace retrystorm {

// Chosen by the answer's HTTP status or, without an answer, by the cause.
struct RetryOn {
  std::bitset<600> statuses;
  bool hinted = false;     // 413, 429 and 503 if the answer has a Retry-After (urllib3)
  bool transport = false;  // no answer: refused, reset, closed
  bool timeout = false;    // no answer within the attempt's timeout

  bool covers(const AttemptResult& failure) const;
  // From now on it covers failures with this status, or without an answer for this cause.
  void include(const AttemptResult& failure);
  RetryOn& operator|=(const RetryOn& other);

  bool operator==(const RetryOn&) const = default;
};

// Reads a text like "408+429+5xx-501+transport+timeout". Each part adds or removes a status, a hundred
// of them (5xx), the failures that a gRPC status stands for (UNAVAILABLE), or one of the words hinted,
// transport and timeout. "none" is the empty set. The separator is not a comma, because commas separate
// the values of a sweep. Throws std::invalid_argument with a readable message.
RetryOn parse_retry_on(std::string_view text);
std::string to_string(const RetryOn& retry_on);

}  // namespace retrystorm
