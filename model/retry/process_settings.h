// The parts of a policy that a process shares, as settings, and the process made of them.
#pragma once

#include <memory>

#include "model/base/option_list.h"
#include "model/retry/breaker.h"
#include "model/retry/client_rate.h"
#include "model/retry/concurrency_limit.h"
#include "model/retry/process_parts.h"
#include "model/retry/retry_budget.h"
#include "model/retry/throttle.h"

namespace retrystorm {

struct ProcessSettings {
  BudgetSettings budget;
  BreakerSettings breaker;
  ThrottleSettings throttle;
  ConcurrencyLimitSettings concurrency_limit;
  ClientRateSettings client_rate;

  // Is any of them on?
  bool any() const;
  bool has_gates() const;
};

void declare_options(OptionList& options, ProcessSettings& settings);

// Adds the numbers that were given but are not used.
void find_unused(UnusedOptions& unused, const ProcessSettings& settings);

// Throws std::invalid_argument with a sentence for a person when settings contradict each other.
void check(const ProcessSettings& settings);

// The parts that are on; null when none is. Its gates are asked in this order: first the one that
// lets attempts wait, so that the others are asked when one can be sent; then those that count.
std::unique_ptr<RetryProcess> make_process(const ProcessSettings& settings, TimePoint now);

}  // namespace retrystorm
