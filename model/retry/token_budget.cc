#include "model/retry/token_budget.h"

#include <algorithm>
#include <cmath>

namespace retrystorm {

TokenBudget::Tokens TokenBudget::in_tokens(double tokens) {
  constexpr double kMost = 1e18;
  return std::llround(std::min(tokens * kToken, kMost));
}

TokenBudget::TokenBudget(const BudgetSettings& settings, TimePoint now)
    : failure_cost_(in_tokens(settings.failure_cost)),
      deposit_(in_tokens(settings.deposit)),
      deposit_on_(settings.deposit_on),
      refund_(settings.refund),
      request_share_(settings.request_share),
      capacity_(in_tokens(settings.tokens)),
      tokens_(capacity_) {
  const auto cost = [&](double own) {
    return in_tokens(own == BudgetSettings::kNone ? settings.cost : own);
  };
  costs_ = {0, cost(settings.cost), cost(settings.timeout_cost), cost(settings.throttled_cost)};
  const bool expires = settings.ttl != Duration::max();
  if (settings.threshold != BudgetSettings::kNone) {
    threshold_ = expires ? 0 : in_tokens(settings.threshold * settings.tokens);
  }
  if (expires) {
    reserve_ = in_tokens(settings.minimum_rate * to_seconds(settings.ttl) * settings.cost);
    window_.emplace(now, settings.ttl, kSlices);
  }
}

void TokenBudget::add(TimePoint now, Tokens amount) {
  if (amount == 0) return;
  if (window_) {
    window_->add(now, amount);
  } else {
    tokens_ = std::clamp<Tokens>(tokens_ + amount, 0, capacity_);
  }
}

void TokenBudget::request_begins(TimePoint now) {
  if (deposit_on_ == DepositOn::kRequest) add(now, deposit_);
}

void TokenBudget::attempt_ended(TimePoint now, const AttemptResult& result, RetryState& state) {
  const bool ok = result.outcome == Outcome::kOk;
  if (!ok && result.failure != Failure::kPermanent) {
    add(now, -failure_cost_);
    return;
  }
  if (ok && refund_) add(now, costs_[state.paid]);
  const bool earned = deposit_on_ == DepositOn::kSuccessOrPermanent ||
                      (ok && deposit_on_ == DepositOn::kSuccess) ||
                      (ok && deposit_on_ == DepositOn::kFirstSuccess && state.paid == kNothing);
  if (earned) add(now, deposit_);
}

bool TokenBudget::withdraw(TimePoint now, const AttemptResult& result, RetryState& state) {
  const Paid paid = result.failure == Failure::kTimedOut    ? kTimedOut
                    : result.failure == Failure::kThrottled ? kThrottled
                                                            : kTransient;
  const Tokens cost = costs_[paid];
  const Tokens left = balance(now);
  if (threshold_ ? left <= *threshold_ : left < cost) return false;
  if (request_share_ != BudgetSettings::kNone && cost > 0) {
    // Finagle fixes this number when a request begins. Here the retries that the request has made
    // since are added back instead. The results differ only by what other requests have deposited
    // or spent meanwhile.
    const double retries_left = static_cast<double>(left) / static_cast<double>(cost);
    if (state.retries >= std::ceil(request_share_ * (retries_left + state.retries))) return false;
  }
  add(now, -cost);
  state.paid = paid & 0xf;
  return true;
}

}  // namespace retrystorm
