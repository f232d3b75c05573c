// Which failures are retried, and how often at most.
#pragma once

#include <bitset>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/retry/attempt.h"

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

// What happens to a request whose next wait would end after its deadline.
enum class DeadlineCheck {
  kBeforeWait,  // it is given up at once (google-api-core, cenkalti/backoff)
  kAtEnd,       // it waits, and is given up at the deadline (gRPC, Polly, Envoy)
};

struct LimitSettings {
  static constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

  RetryOn retry_on = parse_retry_on("408+429+5xx-501+transport+timeout");
  std::uint32_t max_retries = kUnlimited;
  // Deadline of the whole request, counted from when its first attempt was asked for. It also
  // bounds the length of each attempt. `Duration::max()` = none.
  Duration deadline = Duration::max();
  DeadlineCheck deadline_check = DeadlineCheck::kBeforeWait;

  bool has_deadline() const { return deadline != Duration::max(); }
};

void declare_options(OptionList& options, LimitSettings& settings);

}  // namespace retrystorm
