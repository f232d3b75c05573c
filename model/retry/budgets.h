// Retry budgets of a process: their settings, the token budget (requests or successes deposit tokens, retries or failures
// cost tokens) and the concurrent budget (so many retries at a time).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/sliding_window.h"
#include "model/retry/process_parts.h"

namespace retrystorm {

// When tokens are deposited.
enum class DepositOn {
  kRequest,             // when a request begins (Finagle, SRE)
  kSuccess,             // on every success (gRPC)
  kSuccessOrPermanent,  // on every answer that needs no retry (tower, linkerd)
  kFirstSuccess,        // on a success that needed no retry (AWS)
};

// Costs and deposits are in tokens, exact to a millionth of a token.
struct BudgetSettings {
  enum class Kind { kNone, kTokens, kConcurrent };
  static constexpr double kNone = std::numeric_limits<double>::infinity();

  std::string_view name = "none";  // the preset that the numbers come from
  Kind kind = Kind::kNone;

  // Tokens: a bucket that starts full. With a time to live it is a balance instead: all deposits
  // and costs of that time, plus a reserve of `minimum_rate * ttl` retries.
  double tokens = 10;             // the bucket's size; not used with a time to live
  double cost = 1;                // of a retry
  double timeout_cost = kNone;    // of a retry after a timeout; none = `cost`
  double throttled_cost = kNone;  // of a retry after a throttling answer; none = `cost`
  double failure_cost = 0;        // of any failure that could be retried, whether it is or not
  bool refund = false;            // does a success return the cost of its last retry?
  double deposit = 0.1;
  DepositOn deposit_on = DepositOn::kRequest;
  double threshold = kNone;  // a retry is allowed while more than this share of `tokens` is left;
                             // none = while they cover its cost; with a time to live 0 or none
  Duration ttl = Duration::max();
  double minimum_rate = 0;       // retries per second that need no deposit
  double request_share = kNone;  // of the balance, for the retries of one request; rounded up

  // Concurrent: a limit on the retries at a time, including those that wait.
  double share = kNone;  // of the attempts in flight; none = only the minimum
  std::uint32_t min_concurrency = 3;
  Duration interval = Duration::max();  // if set, `share` is of the requests begun in it
};

void declare_options(OptionList& options, BudgetSettings& settings);

// Throws std::invalid_argument with a readable message when settings contradict each other.
void check(const BudgetSettings& settings);

// Null if the settings have no budget.
std::unique_ptr<RetryBudget> make_budget(const BudgetSettings& settings, TimePoint now);

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

// A retry is active from the decision to retry, through its wait, to the end of its attempt. A
// retry is allowed while fewer than max(minimum, share of the attempts in flight) are active; the
// share is truncated to whole retries. Source: envoyproxy/envoy
// source/common/upstream/resource_manager_impl.h.
class ConcurrentBudget final : public RetryBudget {
 public:
  ConcurrentBudget(const BudgetSettings& settings, TimePoint now);

  void request_begins(TimePoint now) override;
  void attempt_sent(TimePoint now, RetryState& state) override;
  void attempt_ended(TimePoint now, const AttemptResult& result, RetryState& state) override;
  void attempt_cancelled(TimePoint now, RetryState& state) override;
  bool withdraw(TimePoint now, const AttemptResult& result, RetryState& state) override;
  void request_ends(TimePoint now, RetryState& state) override;

 private:
  static constexpr std::size_t kSlices = 10;

  double share_;  // 0 without one
  std::uint64_t least_;
  std::uint64_t in_flight_ = 0;                        // attempts
  std::uint64_t retries_ = 0;                          // active: their clients have `paid` set
  std::optional<SlidingWindow<std::uint64_t>> begun_;  // requests, if the share is of these
};

}  // namespace retrystorm
