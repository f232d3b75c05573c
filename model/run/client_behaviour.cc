#include "model/run/client_behaviour.h"

namespace retrystorm {

NextAttempt ClientBehaviour::after_recorded(TimePoint now, const AttemptResult& result,
                                            RetryState& state, RetryProcess* process,
                                            Random& random, RetryMetrics& metrics) const {
  return next(policy_.after_recorded(now, result, state, process, random, metrics), state, random);
}

NextAttempt ClientBehaviour::after_loss(TimePoint now, RetryState& state, RetryProcess* process,
                                        Random& random, RetryMetrics& metrics) const {
  RetryPolicy::begin(state, now);
  return after(now, not_connected(Duration::zero(), NoAnswer::kReset), state, process, random,
               metrics);
}

NextAttempt ClientBehaviour::after_refusal(TimePoint now, Permission::Kind why, RetryState& state,
                                           RetryProcess* process, Random& random,
                                           RetryMetrics& metrics) const {
  return next(policy_.after_refusal(now, why, state, process, random, metrics), state, random);
}

}  // namespace retrystorm
