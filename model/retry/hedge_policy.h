// The rules of hedging: when the next attempt of a request is sent while others are under way, and which
// result ends the request.
#pragma once

#include "model/base/duration.h"
#include "model/base/random.h"
#include "model/retry/attempt_result.h"
#include "model/retry/hedge.h"
#include "model/retry/hint_use.h"
#include "model/retry/process_parts.h"
#include "model/retry/retry_on.h"
#include "model/retry/retry_settings.h"
#include "model/retry/retry_state.h"

namespace retrystorm {

// It has no state, and is shared by all clients and threads. Sources: grpc/proposal A6, Finagle's
// BackupRequestFilter, and Envoy's hedge_on_per_try_timeout. `process` may be null.
class HedgePolicy {
 public:
  explicit HedgePolicy(const RetrySettings& settings)
      : settings_(settings.hedge), hint_(settings.hint), retry_on_(settings.limit.retry_on) {}

  bool any() const { return settings_.any(); }
  bool at_timeout() const { return settings_.on == HedgeOn::kTimeout; }
  bool cancels() const { return settings_.cancel; }

  // An attempt was just sent. How long after it the next one is due. `Duration::max()`: none is.
  Duration next_delay(TimePoint now, const HedgeState& state, RetryProcess* process) const;

  // Does this result of an attempt end its request, whatever becomes of the others: a success, or a
  // failure that is not retried?
  bool is_final(const AttemptResult& result) const {
    return result.outcome == Outcome::kOk || result.no_retry || !retry_on_.covers(result);
  }

  // An attempt has failed, which is not final. The wait before the next one, which takes its place: none,
  // or what the server has asked for.
  Duration wait_after(const AttemptResult& failure, Random& random) const {
    return with_hint(hint_, Duration::zero(), failure.retry_after, random);
  }

  // May another one be sent, as far as the number and the budgets are concerned? If so, charges the budgets.
  // `hedge`: the state of the new attempt. Without a budget that would pay, there are no more for this
  // request.
  bool pay(TimePoint now, HedgeState& state, RetryState& hedge, RetryProcess* process) const;

  // An attempt has taken so long, whatever came of it.
  static void add_latency(TimePoint now, const AttemptResult& result, RetryProcess* process) {
    if (process == nullptr || !process->hedges) return;
    if (result.outcome != Outcome::kError) process->hedges->add_latency(now, result.latency);
  }

 private:
  bool has_more(const HedgeState& state) const {
    return !at_timeout() && !state.stopped && state.hedges < settings_.most;
  }

  HedgeSettings settings_;
  HintUseSettings hint_;
  RetryOn retry_on_;
};

}  // namespace retrystorm
