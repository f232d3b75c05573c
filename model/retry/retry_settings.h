// The settings of retries: those of a process, and all.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/retry/backoff.h"
#include "model/retry/breaker.h"
#include "model/retry/budgets.h"
#include "model/retry/gates.h"
#include "model/retry/hedge.h"
#include "model/retry/process_parts.h"
#include "model/retry/retry_on.h"

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

// Throws std::invalid_argument with a readable message when settings contradict each other.
void check(const ProcessSettings& settings);

// The parts that are on; null when none is. The gates are asked in a fixed order. The gate that can
// make attempts wait comes first, so that the others are asked only when an attempt can be sent.
// Those that count attempts follow.
std::unique_ptr<RetryProcess> make_process(const ProcessSettings& settings, TimePoint now);

// What happens to a request when a gate refuses one of its attempts. When the budget or the switch refuses a
// retry, it fails in any case, with kBackOff after the wait: so do AWS's clients of 2026 for long polls
// (aws/aws-cli#10342).
enum class WhenRefused {
  kGiveUp,   // it fails at once
  kBackOff,  // it waits as after a failure, which counts as a retry
};

struct RetrySettings {
  std::string strategy = "fixed";  // the named strategy that these settings began with
  LimitSettings limit;
  BackoffSettings backoff;
  HintUseSettings hint;
  HedgeSettings hedge;
  PacerSettings pacer;
  ProcessSettings process;
  WhenRefused when_refused = WhenRefused::kGiveUp;
};

// Declares the options of every part. The strategy comes first: it sets the defaults of all other
// options, and they override it.
void declare_options(OptionList& options, RetrySettings& settings);

// Throws std::invalid_argument with a readable message when settings contradict each other.
void check(const RetrySettings& settings);

// The settings of a named strategy (see strategies.h). Throws std::invalid_argument with a readable
// message when there is none of that name.
RetrySettings retry_settings(std::string_view strategy);

}  // namespace retrystorm
