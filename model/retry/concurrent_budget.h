// Envoy's retry budget: a limit on concurrent retries.
#pragma once

#include <cstdint>
#include <optional>

#include "model/base/sliding_window.h"
#include "model/retry/budget_settings.h"
#include "model/retry/process_parts.h"

namespace retrystorm {

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

  void release(RetryState& state);

  double share_;  // 0 without one
  std::uint64_t least_;
  std::uint64_t in_flight_ = 0;                        // attempts
  std::uint64_t retries_ = 0;                          // active: their clients have `paid` set
  std::optional<SlidingWindow<std::uint64_t>> begun_;  // requests, if the share is of these
};

}  // namespace retrystorm
