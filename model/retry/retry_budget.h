// The retry budget of a process, as settings: which one, and its numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/retry/process_parts.h"

namespace retrystorm {

// When tokens are paid in.
enum class DepositOn {
  kRequest,             // as a request begins (Finagle, SRE)
  kSuccess,             // on every success (gRPC)
  kSuccessOrPermanent,  // on every answer that needs no retry (tower, linkerd)
  kFirstSuccess,        // on a success that needed no retry (AWS)
};

// Costs and deposits are in tokens, exact to a millionth of one.
struct BudgetSettings {
  enum class Kind { kNone, kTokens, kConcurrent };
  static constexpr double kNone = std::numeric_limits<double>::infinity();

  std::string_view name = "none";  // of the preset that the numbers come from
  Kind kind = Kind::kNone;

  // Tokens: a bucket that starts full; or, with a time to live, a balance of all that was paid in
  // and out in that time, over a reserve of `minimum_rate * ttl` retries.
  double tokens = 10;             // the bucket's size; not used with a time to live
  double cost = 1;                // of a retry
  double timeout_cost = kNone;    // of one after a timeout; none = the cost
  double throttled_cost = kNone;  // of one after a throttling answer; none = the cost
  double failure_cost = 0;        // of any failure that could be retried, retried or not
  bool refund = false;            // does a success give back what its last retry cost?
  double deposit = 0.1;
  DepositOn deposit_on = DepositOn::kRequest;
  double threshold = kNone;  // a retry while more than this share of `tokens` is left;
                             // none = while they cover its cost; with a time to live only 0
  Duration ttl = Duration::max();
  double minimum_rate = 0;       // retries per second that need no deposit
  double request_share = kNone;  // of the balance, rounded up, that one request's retries may cost

  // Concurrent: so many retries at a time, waits included.
  double share = kNone;  // of the attempts in flight; none = the minimum alone
  std::uint32_t min_concurrency = 3;
  Duration interval = Duration::max();  // the share is of the requests begun in it instead
};

void declare_options(OptionList& options, BudgetSettings& settings);

// Adds the numbers that were given but are not used.
void find_unused(UnusedOptions& unused, const BudgetSettings& settings);

// Throws std::invalid_argument with a sentence for a person when settings contradict each other.
void check(const BudgetSettings& settings);

// Null without one.
std::unique_ptr<RetryBudget> make_budget(const BudgetSettings& settings, TimePoint now);

}  // namespace retrystorm
