#include "model/retry/hedge_policy.h"

namespace retrystorm {

Duration HedgePolicy::next_delay(TimePoint now, const HedgeState& state,
                                 RetryProcess* process) const {
  if (!has_more(state)) return Duration::max();
  return process != nullptr && process->hedges ? process->hedges->delay(now) : settings_.delay;
}

bool HedgePolicy::pay(TimePoint now, HedgeState& state, RetryState& hedge,
                      RetryProcess* process) const {
  if (!has_more(state)) return false;
  if (process == nullptr) return true;
  // Like a retry after a failure of no particular kind.
  const AttemptResult failure{.outcome = Outcome::kError, .failure = Failure::kTransient};
  const bool paid = (!process->retry_switch || process->retry_switch->lets_retry(now)) &&
                    (!process->hedges || process->hedges->withdraw(now)) &&
                    (!process->budget || process->budget->withdraw(now, failure, hedge));
  state.stopped = !paid;
  return paid;
}

}  // namespace retrystorm
