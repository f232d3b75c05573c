// What a client does next: think, request, and on failure wait and try again.
#pragma once

#include <memory>
#include <optional>

#include "model/base/duration.h"
#include "model/base/random.h"
#include "model/retry/retry_policy.h"

namespace retrystorm {

// What follows an attempt: wait so long, think where the request is over, then send a new request
// or the same one again.
struct NextAttempt {
  Duration wait{0};
  Duration think{0};                // thereafter, as long as the load is as configured
  bool retry = false;               // the same request once more
  std::optional<GiveUp> gave_up{};  // the request at hand has failed for good
};

// The behaviour of every client of a run: think times are exponentially distributed (so that
// requests arrive as a Poisson process), and failures are retried as the policy says. Without I/O,
// clock and memory of its own: an engine keeps a RetryState and a Random for each client and what
// its processes share, sends the attempts and reports what became of them. Safe to share between
// threads.
class ClientBehaviour {
 public:
  // mean_think_time >= 0.
  ClientBehaviour(Duration mean_think_time, const RetrySettings& retry)
      : mean_think_time_(mean_think_time), policy_(retry) {}

  const RetryPolicy& policy() const { return policy_; }

  // How long a new client thinks before its first request.
  Duration start(RetryState& state, Random& random) const { return think(state, random); }

  // See RetryPolicy.
  Permission may_send(TimePoint now, RetryState& state, RetryProcess* process,
                      Random& random) const {
    return policy_.may_send(now, state, process, random);
  }

  NextAttempt after(TimePoint now, const AttemptResult& result, RetryState& state,
                    RetryProcess* process, Random& random, RetryMetrics& metrics) const {
    return next(policy_.after(now, result, state, process, random, metrics), state, random);
  }
  NextAttempt after_refusal(TimePoint now, Permission::Kind why, RetryState& state,
                            RetryProcess* process, Random& random, RetryMetrics& metrics) const;

 private:
  Duration think(RetryState& state, Random& random) const;
  NextAttempt next(const Decision& decision, RetryState& state, Random& random) const {
    if (decision.retry) return {.wait = decision.wait, .retry = true};
    return {.wait = decision.wait, .think = think(state, random), .gave_up = decision.gave_up};
  }

  Duration mean_think_time_;
  RetryPolicy policy_;
};

}  // namespace retrystorm
