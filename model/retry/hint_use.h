// The server's hint (Retry-After) when to retry, and how a client uses it.
#pragma once

#include <optional>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/random.h"

namespace retrystorm {

// With h the hint and w the wait computed by the backoff:
enum class HintUse {
  kIgnore,   // w
  kReplace,  // h (go-retryablehttp, .NET, urllib3)
  kAtLeast,  // max(w, h) (Azure)
  kClamp,    // h, bounded by w and w + 5 s (AWS SDKs since 2026, for their own header)
  kSpread,   // h + u * h/2, u uniform in [0, 1) (Envoy): spreads clients with equal hints
};

struct HintUseSettings {
  HintUse use = HintUse::kIgnore;
  Duration longest = Duration::max();  // longer hints are cut to this
};

void declare_options(OptionList& options, HintUseSettings& settings);

// Adds the options that were given but have no effect. `defaults`: the strategy's own values.
void find_unused(UnusedOptions& unused, const HintUseSettings& settings,
                 const HintUseSettings& defaults);

// The wait before a retry. Draws a random number only if one is needed.
Duration with_hint(const HintUseSettings& settings, Duration wait, std::optional<Duration> hint,
                   Random& random);

}  // namespace retrystorm
