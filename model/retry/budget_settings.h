// The settings of the retry budget of a process.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/option_list.h"
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

// Adds the options that were given but have no effect.
void find_unused(UnusedOptions& unused, const BudgetSettings& settings);

// Throws std::invalid_argument with a readable message when settings contradict each other.
void check(const BudgetSettings& settings);

// Null if the settings have no budget.
std::unique_ptr<RetryBudget> make_budget(const BudgetSettings& settings, TimePoint now);

}  // namespace retrystorm
