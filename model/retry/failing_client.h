// A client whose attempts all fail. It shows the waits of a retry policy without a service.
#pragma once

#include <cstdint>
#include <optional>

#include "model/base/duration.h"
#include "model/base/random.h"
#include "model/retry/retry_policy.h"
#include "model/retry/retry_settings.h"

namespace retrystorm {

// A failure that these settings retry: a timeout (as in an outage) if they retry timeouts,
// otherwise a refused connection or a 503.
AttemptResult retried_failure(const RetryOn& retried);

// Each attempt takes `takes`, or what is left before the deadline. The budget and gates of the process are
// ignored. `policy` must outlive the client.
class FailingClient {
 public:
  FailingClient(const RetryPolicy& policy, const RetrySettings& settings, Duration think_time,
                std::uint64_t seed, std::uint64_t index, Duration takes = Duration::zero());

  // Fails the next attempt and returns the wait after it; nothing once the request is given up.
  std::optional<Duration> fail();

  // From the begin of the first attempt to the end of the last wait.
  Duration elapsed() const { return now_ - TimePoint{}; }

 private:
  const RetryPolicy* policy_;
  AttemptResult failure_;
  Duration takes_;
  ClientRandom random_;
  RetryState state_;
  RetryMetrics metrics_;
  TimePoint now_{};
  bool gave_up_ = false;
};

}  // namespace retrystorm
