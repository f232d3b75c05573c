#include "model/retry/concurrent_budget.h"

#include <algorithm>

namespace retrystorm {

ConcurrentBudget::ConcurrentBudget(const BudgetSettings& settings, TimePoint now)
    : share_(settings.share == BudgetSettings::kNone ? 0 : settings.share),
      least_(settings.min_concurrency) {
  if (settings.interval != Duration::max()) begun_.emplace(now, settings.interval, kSlices);
}

void ConcurrentBudget::request_begins(TimePoint now) {
  if (begun_) begun_->add(now, 1);
}

void ConcurrentBudget::attempt_sent(TimePoint /*now*/, RetryState& /*state*/) {
  ++in_flight_;
}

void ConcurrentBudget::attempt_ended(TimePoint /*now*/, const AttemptResult& /*result*/,
                                     RetryState& state) {
  if (in_flight_ > 0) --in_flight_;
  release(state);
}

void ConcurrentBudget::attempt_cancelled(TimePoint /*now*/, RetryState& state) {
  if (in_flight_ > 0) --in_flight_;
  release(state);
}

bool ConcurrentBudget::withdraw(TimePoint now, const AttemptResult& /*result*/, RetryState& state) {
  if (state.paid != 0) return true;  // still active: a gate refused to send it
  const std::uint64_t base = begun_ ? begun_->total(now) : in_flight_;
  const auto shared = static_cast<std::uint64_t>(share_ * static_cast<double>(base));
  if (retries_ >= std::max(least_, shared)) return false;
  ++retries_;
  state.paid = 1;
  return true;
}

void ConcurrentBudget::request_ends(TimePoint /*now*/, RetryState& state) {
  release(state);
}

void ConcurrentBudget::release(RetryState& state) {
  if (state.paid == 0) return;
  state.paid = 0;
  --retries_;
}

}  // namespace retrystorm
