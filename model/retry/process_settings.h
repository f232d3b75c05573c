// The settings of the parts that a process shares, and the function that makes them.
#pragma once

#include <memory>

#include "model/base/option_list.h"
#include "model/retry/breaker.h"
#include "model/retry/budget_settings.h"
#include "model/retry/client_rate.h"
#include "model/retry/concurrency_limit.h"
#include "model/retry/process_parts.h"
#include "model/retry/retry_switch.h"
#include "model/retry/throttle.h"

namespace retrystorm {

struct ProcessSettings {
  BudgetSettings budget;
  BreakerSettings breaker;
  ThrottleSettings throttle;
  ConcurrencyLimitSettings concurrency_limit;
  ClientRateSettings client_rate;
  RetrySwitchSettings retry_switch;

  // Is any part on?
  bool any() const;
  bool has_gates() const;  // not counting the switch, which stops no first attempt
};

void declare_options(OptionList& options, ProcessSettings& settings);

// Adds the options that were given but have no effect.
void find_unused(UnusedOptions& unused, const ProcessSettings& settings);

// Throws std::invalid_argument with a readable message when settings contradict each other.
void check(const ProcessSettings& settings);

// The parts that are on; null when none is. The gates are asked in a fixed order. The gate that can
// make attempts wait comes first, so that the others are asked only when an attempt can be sent.
// Those that count attempts follow.
std::unique_ptr<RetryProcess> make_process(const ProcessSettings& settings, TimePoint now);

}  // namespace retrystorm
