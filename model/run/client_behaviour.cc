#include "model/run/client_behaviour.h"

namespace retrystorm {
ClientBehaviour::ClientBehaviour(Duration mean_think_time, const RetryOptions& retry)
    : mean_think_time_(mean_think_time),
      max_retries_(retry_limit(retry)),
      policy_(make_retry_policy(retry)) {}

Duration ClientBehaviour::start(RetryState& state, Random& random) const {
  return think(state, random);
}

NextAttempt ClientBehaviour::after(Outcome outcome, RetryState& state, Random& random,
                                   RetryMetrics& metrics) const {
  if (outcome == Outcome::kOk) {
    const Duration pause = policy_->after_success(state, random, metrics);
    return {.wait = saturating_add(pause, think(state, random))};
  }
  if (max_retries_ > 0 && state.retries >= max_retries_) {
    const Duration pause = policy_->after_giving_up(state, random, metrics);
    return {.wait = saturating_add(pause, think(state, random)), .gave_up = true};
  }
  return {.wait = policy_->after_failure(state, random, metrics), .retry = true};
}

Duration ClientBehaviour::think(RetryState& state, Random& random) const {
  const Duration think_time = random.exponential(mean_think_time_);
  policy_->begin_request(state, think_time);
  return think_time;
}

}  // namespace retrystorm
