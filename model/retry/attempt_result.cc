#include "model/retry/attempt_result.h"

#include <algorithm>
#include <array>

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

bool names_throttling(std::string_view error_name) {
  // botocore's list of the errors that mean it.
  static constexpr std::array<std::string_view, 14> kNames{"Throttling",
                                                           "ThrottlingException",
                                                           "ThrottledException",
                                                           "RequestThrottledException",
                                                           "TooManyRequestsException",
                                                           "ProvisionedThroughputExceededException",
                                                           "TransactionInProgressException",
                                                           "RequestLimitExceeded",
                                                           "BandwidthLimitExceeded",
                                                           "LimitExceededException",
                                                           "RequestThrottled",
                                                           "SlowDown",
                                                           "PriorRequestNotComplete",
                                                           "EC2ThrottledException"};
  error_name.remove_prefix(error_name.rfind('#') + 1);
  return std::find(kNames.begin(), kNames.end(), error_name.substr(0, error_name.find(':'))) !=
         kNames.end();
}

AttemptResult answered(int status, std::optional<Duration> retry_after, Duration latency,
                       std::string_view error_name) {
  const bool throttled = status == 400 && names_throttling(error_name);
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
