// Which failures are retried; the others fail the request at once.
#pragma once

#include <bitset>
#include <string>
#include <string_view>

#include "model/retry/attempt_result.h"

namespace retrystorm {

// By the answer's HTTP status, and by how it was that there was none.
struct RetryOn {
  std::bitset<600> statuses;
  bool hinted = false;     // 413, 429 and 503 where the answer has a Retry-After (urllib3)
  bool transport = false;  // no answer: refused, reset, closed
  bool timeout = false;    // no answer within the attempt's timeout

  bool covers(const AttemptResult& failure) const;

  bool operator==(const RetryOn&) const = default;
};

// "408+429+5xx-501+transport+timeout": each part adds, or takes away, a status, a hundred of them,
// or one of the words hinted, transport and timeout; "none" is nothing. (Without commas, which tell
// the values of a sweep apart.) Throws std::invalid_argument with a sentence for a person.
RetryOn parse_retry_on(std::string_view text);
std::string to_string(const RetryOn& retry_on);

}  // namespace retrystorm
