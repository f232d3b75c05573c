#include "model/retry/attempt_result.h"

namespace retrystorm {
namespace {

Failure failure_of(int status, bool hinted) {
  if (status >= 200 && status < 300) return Failure::kNone;
  if (status == 429 || (status == 503 && hinted)) return Failure::kThrottled;
  // "Not implemented" will not be implemented a second later.
  if (status == 408 || (status >= 500 && status != 501)) return Failure::kTransient;
  return Failure::kPermanent;
}

}  // namespace

AttemptResult answered(int status, std::optional<Duration> retry_after, Duration latency) {
  const Failure failure = failure_of(status, retry_after.has_value());
  return {.outcome = failure == Failure::kNone ? Outcome::kOk : Outcome::kError,
          .failure = failure,
          .status = failure == Failure::kNone ? 0 : status,
          .retry_after = retry_after,
          .latency = latency,
          .accepted = status != 429 && status != 503};
}

}  // namespace retrystorm
