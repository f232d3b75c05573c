// The `Retry-After` hint that a service sends with a rejection.
#pragma once

#include <chrono>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/random.h"

namespace retrystorm {

enum class HintKind {
  kNone,      // no hint
  kComputed,  // when a token is available, or a second after load shedding
  kFixed,     // always the same
  kSpread,    // random, so that clients rejected together do not return together
};

// HTTP sends whole seconds, and 0 seconds would be no hint. So the hint is rounded up, to at least
// one second.
struct HintOfferSettings {
  HintKind kind = HintKind::kComputed;
  Duration least = std::chrono::seconds(1);  // fixed: the hint itself
  Duration most = std::chrono::seconds(10);  // spread: the upper end, uniform over whole seconds
};

void declare_options(OptionList& options, HintOfferSettings& settings);

// Adds the numbers that were given but are not used.
void find_unused(UnusedOptions& unused, const HintOfferSettings& settings);

// Throws std::invalid_argument with a readable message if settings contradict each other.
void check(const HintOfferSettings& settings);

// Does a deliberate error of this status carry the hint? There is no estimate to compute one from.
inline bool hints_at_errors(const HintOfferSettings& settings, int status) {
  return (settings.kind == HintKind::kFixed || settings.kind == HintKind::kSpread) &&
         (status == 429 || status == 503);
}

// The hint in whole seconds, or zero for none. `computed` is the admission's own estimate. Draws no
// random number where the result is certain.
Duration offered_hint(const HintOfferSettings& settings, Duration computed, Random& random);

}  // namespace retrystorm
