// The token budget: requests or successes deposit tokens, retries or failures cost tokens.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "model/base/sliding_window.h"
#include "model/retry/budget_settings.h"
#include "model/retry/process_parts.h"

namespace retrystorm {

// One class for gRPC's retry throttling, the AWS SDKs' retry quota, the budgets of Finagle and
// tower, and SRE's share of retries: only the numbers differ. Formulas and sources: grpc/proposal
// A6, botocore retries/quota.py, finagle RetryBudget.scala, tower tps_budget.rs, Site Reliability
// Engineering ch. 21. Tokens are counted in whole millionths, so that ten deposits of a tenth add
// up to exactly one.
class TokenBudget final : public RetryBudget {
 public:
  TokenBudget(const BudgetSettings& settings, TimePoint now);

  void request_begins(TimePoint now) override;
  void attempt_ended(TimePoint now, const AttemptResult& result, RetryState& state) override;
  bool withdraw(TimePoint now, const AttemptResult& result, RetryState& state) override;

  double tokens(TimePoint now) { return static_cast<double>(balance(now)) / kToken; }

 private:
  using Tokens = std::int64_t;  // millionths
  static constexpr double kToken = 1e6;
  static constexpr std::size_t kSlices = 10;  // Finagle's and tower's

  // The kind of failure that a retry was charged for, stored in `RetryState::paid`.
  enum Paid : std::uint8_t { kNothing, kTransient, kTimedOut, kThrottled, kPaids };

  static Tokens in_tokens(double tokens);
  Tokens balance(TimePoint now) { return window_ ? reserve_ + window_->total(now) : tokens_; }
  void add(TimePoint now, Tokens amount);

  std::array<Tokens, kPaids> costs_;
  Tokens failure_cost_;
  Tokens deposit_;
  DepositOn deposit_on_;
  bool refund_;
  std::optional<Tokens> threshold_;
  double request_share_;

  Tokens capacity_;  // of the bucket
  Tokens tokens_;    // in the bucket
  Tokens reserve_ = 0;
  std::optional<SlidingWindow<Tokens>> window_;  // replaces the bucket
};

}  // namespace retrystorm
