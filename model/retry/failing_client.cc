#include "model/retry/failing_client.h"

namespace retrystorm {

AttemptResult retried_failure(const RetryOn& retried) {
  const AttemptResult late = timed_out(Duration::zero());
  for (const AttemptResult& each :
       {late, not_connected(Duration::zero()), answered(503, std::nullopt, Duration::zero())}) {
    if (retried.covers(each)) return each;
  }
  return late;
}

FailingClient::FailingClient(const RetryPolicy& policy, const RetrySettings& settings,
                             Duration think_time, std::uint64_t seed, std::uint64_t index,
                             Duration takes)
    : policy_(&policy),
      failure_(retried_failure(settings.limit.retry_on)),
      takes_(takes),
      random_(seed, index) {
  policy.begin_request(state_, random_.exponential(think_time));
}

std::optional<Duration> FailingClient::fail() {
  if (gave_up_) return std::nullopt;
  policy_->may_send(now_, state_, nullptr, random_);
  now_ = saturating_add(now_, std::min(takes_, policy_->time_left(now_, state_)));
  const Decision decision = policy_->after(now_, failure_, state_, nullptr, random_, metrics_);
  now_ = saturating_add(now_, decision.wait);
  gave_up_ = decision.gave_up.has_value();
  return gave_up_ ? std::nullopt : std::optional(decision.wait);
}

}  // namespace retrystorm
