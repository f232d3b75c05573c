// The server's hint when to come again, and what a client makes of it.
#pragma once

#include <optional>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/random.h"

namespace retrystorm {

// With h the hint and w the wait that the backoff has computed:
enum class HintUse {
  kIgnore,   // w
  kReplace,  // h (go-retryablehttp, .NET, urllib3)
  kAtLeast,  // max(w, h) (Azure)
  kClamp,    // h, held within w and w + 5 s (AWS SDKs since 2026, for a header of their own)
  kSpread,   // h + u * h/2, u uniform in [0, 1) (Envoy): who is told the same comes back apart
};

struct HintSettings {
  HintUse use = HintUse::kIgnore;
  Duration longest = Duration::max();  // a hint that is longer is taken for this
};

void declare_options(OptionList& options, HintSettings& settings);

// Adds the options that were given but can have no effect. `usual`: what the strategy has.
void find_unused(UnusedOptions& unused, const HintSettings& settings, const HintSettings& usual);

// The wait before a retry. Draws nothing where there is nothing to draw for.
Duration with_hint(const HintSettings& settings, Duration wait, std::optional<Duration> hint,
                   Random& random);

}  // namespace retrystorm
