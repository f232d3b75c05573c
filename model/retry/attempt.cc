#include "model/retry/attempt.h"

namespace retrystorm {

namespace {

Failure failure_of(int status, bool hinted) {
  if (status >= 200 && status < 300) return Failure::kNone;
  if (status == 429 || (status == 503 && hinted)) return Failure::kThrottled;
  // 501 Not Implemented will not change within seconds.
  if (status == 408 || (status >= 500 && status != 501)) return Failure::kTransient;
  return Failure::kPermanent;
}

}  // namespace

AttemptResult answered(int status, std::optional<Duration> retry_after, Duration latency,
                       bool asks_for_less) {
  const bool throttled = status == 400 && asks_for_less;
  const Failure failure =
      throttled ? Failure::kThrottled : failure_of(status, retry_after.has_value());
  return {.outcome = failure == Failure::kNone ? Outcome::kOk : Outcome::kError,
          .failure = failure,
          .status = failure == Failure::kNone ? 0 : status,
          .retry_after = retry_after,
          .latency = latency,
          .accepted = status != 429 && status != 503 && !throttled};
}

}  // namespace retrystorm
