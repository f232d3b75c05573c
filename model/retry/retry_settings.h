// How clients retry, as settings: each part of the policy has its own.
#pragma once

#include <string>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/retry/backoff.h"
#include "model/retry/hint.h"
#include "model/retry/limit.h"
#include "model/retry/pacer.h"
#include "model/retry/process_settings.h"

namespace retrystorm {

// What becomes of a request of which a gate refuses an attempt.
enum class WhenRefused {
  kGiveUp,   // it fails at once
  kBackOff,  // it waits as after a failure, and counts as a retry
};

struct RetrySettings {
  std::string strategy = "fixed";  // whose settings these were to begin with
  LimitSettings limit;
  BackoffSettings backoff;
  HintSettings hint;
  PacerSettings pacer;
  ProcessSettings process;
  WhenRefused when_refused = WhenRefused::kGiveUp;
};

// Every part's options, the strategy first: it gives defaults to all others, which overrule it.
void declare_options(OptionList& options, RetrySettings& settings);

// Throws std::invalid_argument with a sentence for a person when settings contradict each other.
void check(const RetrySettings& settings);

// Adds the options that were given, besides the strategy, but can have no effect. Those of a
// process' parts are refused by `check`.
void find_unused(UnusedOptions& unused, const RetrySettings& settings);

// The settings of a named strategy (see strategies.h). Throws std::invalid_argument with a sentence
// for a person when there is none of that name.
RetrySettings retry_settings(std::string_view strategy);

}  // namespace retrystorm
