// What a service says in `Retry-After` to those whom it turns away.
#pragma once

#include <chrono>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/random.h"

namespace retrystorm {

enum class HintKind {
  kNone,      // nothing
  kComputed,  // when there will be a token, or a second after shedding
  kFixed,     // always the same
  kSpread,    // drawn anew for each: who is turned away together does not come back together
};

// HTTP tells whole seconds, and 0 of them would be no hint: what is not whole is rounded up, to a
// second at least.
struct ServerHintSettings {
  HintKind kind = HintKind::kComputed;
  Duration least = std::chrono::seconds(1);  // fixed: the hint itself
  Duration most = std::chrono::seconds(10);  // spread: uniform over the whole seconds up to this
};

void declare_options(OptionList& options, ServerHintSettings& settings);

// Adds the numbers that were given but are not used.
void find_unused(UnusedOptions& unused, const ServerHintSettings& settings);

// Throws std::invalid_argument with a sentence for a person when settings contradict each other.
void check(const ServerHintSettings& settings);

// In whole seconds; zero for none. `computed` is what the admission knows. Draws nothing where
// there is nothing to draw for.
Duration server_hint(const ServerHintSettings& settings, Duration computed, Random& random);

}  // namespace retrystorm
