// What a client does next: think, request, and on failure wait and try again.
#pragma once

#include <optional>

#include "model/base/duration.h"
#include "model/base/random.h"
#include "model/retry/retry_policy.h"

namespace retrystorm {

// What follows an attempt. The client waits, and thinks if the request is over. Then it sends a new
// request, or the same one again.
struct NextAttempt {
  Duration wait{0};
  Duration think{0};                // after the wait, under the configured load
  bool retry = false;               // send the same request again
  std::optional<GiveUp> gave_up{};  // why the current request failed for good
};

// The behaviour of every client of a run. Think times are exponentially distributed, so requests
// arrive as a Poisson process. Failures are retried as the policy says. There is no I/O, no clock
// and no state here. An engine keeps a RetryState and a Random for each client, and the state that
// the clients of a process share. It sends the attempts and reports their results. Safe to share
// between threads.
class ClientBehaviour {
 public:
  // mean_think_time >= 0.
  ClientBehaviour(Duration mean_think_time, const RetrySettings& retry)
      : mean_think_time_(mean_think_time), policy_(retry) {}

  const RetryPolicy& policy() const { return policy_; }

  // How long a new client thinks before its first request.
  Duration start(RetryState& state, Random& random) const { return think(state, random); }

  // See RetryPolicy.
  Permission may_send(TimePoint now, RetryState& state, RetryProcess* process, Random& random,
                      Duration ends_in = Duration::max()) const {
    return policy_.may_send(now, state, process, random, ends_in);
  }

  NextAttempt after(TimePoint now, const AttemptResult& result, RetryState& state,
                    RetryProcess* process, Random& random, RetryMetrics& metrics) const {
    return next(policy_.after(now, result, state, process, random, metrics), state, random);
  }
  // The same for a result that was recorded: see RetryPolicy.
  NextAttempt after_recorded(TimePoint now, const AttemptResult& result, RetryState& state,
                             RetryProcess* process, Random& random, RetryMetrics& metrics) const {
    return next(policy_.after_recorded(now, result, state, process, random, metrics), state,
                random);
  }

  // The same for a request that begins because its client has just lost its connection: as if its
  // first attempt had failed at once. It has no attempt before the wait that follows.
  NextAttempt after_loss(TimePoint now, RetryState& state, RetryProcess* process, Random& random,
                         RetryMetrics& metrics) const {
    RetryPolicy::begin(state, now);
    return after(now, not_connected(Duration::zero(), NoAnswer::kReset), state, process, random,
                 metrics);
  }
  NextAttempt after_refusal(TimePoint now, Permission::Kind why, RetryState& state,
                            RetryProcess* process, Random& random, RetryMetrics& metrics) const {
    return next(policy_.after_refusal(now, why, state, process, random, metrics), state, random);
  }

 private:
  Duration think(RetryState& state, Random& random) const {
    const Duration think_time = random.exponential(mean_think_time_);
    policy_.begin_request(state, think_time);
    return think_time;
  }
  NextAttempt next(const Decision& decision, RetryState& state, Random& random) const {
    if (decision.retry) return {.wait = decision.wait, .retry = true};
    return {.wait = decision.wait, .think = think(state, random), .gave_up = decision.gave_up};
  }

  Duration mean_think_time_;
  RetryPolicy policy_;
};

}  // namespace retrystorm
