// A client whose attempts all fail: its waits show a retry policy without a service.
#pragma once

#include <cstdint>
#include <optional>

#include "model/base/duration.h"
#include "model/base/random.h"
#include "model/retry/retry_policy.h"
#include "model/retry/retry_settings.h"

namespace retrystorm {

// A failure that these settings retry: as after an outage a timeout, where that is one.
AttemptResult retried_failure(const RetryOn& retried);

// Attempts take no time, and the process' budget and gates have no say. `policy` outlives it.
class FailingClient {
 public:
  FailingClient(const RetryPolicy& policy, const RetrySettings& settings, Duration think_time,
                std::uint64_t seed, std::uint64_t index);

  // The wait that follows its next attempt; none once the request is given up.
  std::optional<Duration> fail();

 private:
  const RetryPolicy* policy_;
  AttemptResult failure_;
  ClientRandom random_;
  RetryState state_;
  RetryMetrics metrics_;
  TimePoint now_{};
  bool gave_up_ = false;
};

}  // namespace retrystorm
