// What a client does next: think, request, and on failure wait and try again.
#pragma once

#include <cstdint>
#include <memory>

#include "model/base/duration.h"
#include "model/base/random.h"
#include "model/retry/retry_policy.h"
#include "model/run/outcome.h"

namespace retrystorm {

// What follows an attempt: wait so long, then send a new request or the same one again.
struct NextAttempt {
  Duration wait{0};
  bool retry = false;    // the same request once more
  bool gave_up = false;  // the request at hand has failed for good
};

// The behaviour of every client of a run: think times are exponentially distributed (so that
// requests arrive as a Poisson process), and failures are retried as the policy says. Without I/O,
// clock and memory of its own: an engine keeps a RetryState and a Random for each client, sends
// the attempts and reports their outcomes. Safe to share between threads.
class ClientBehaviour {
 public:
  // mean_think_time >= 0.
  ClientBehaviour(Duration mean_think_time, const RetryOptions& retry);

  // How long a new client thinks before its first request.
  Duration start(RetryState& state, Random& random) const;

  NextAttempt after(Outcome outcome, RetryState& state, Random& random,
                    RetryMetrics& metrics) const;

 private:
  Duration think(RetryState& state, Random& random) const;

  Duration mean_think_time_;
  std::uint32_t max_retries_;
  std::unique_ptr<const RetryPolicy> policy_;
};

}  // namespace retrystorm
