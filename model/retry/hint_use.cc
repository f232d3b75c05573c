#include "model/retry/hint_use.h"

#include <algorithm>
#include <chrono>

namespace retrystorm {
namespace {

constexpr Duration kClampWidth = std::chrono::seconds(5);

}  // namespace

void declare_options(OptionList& options, HintUseSettings& settings) {
  options.group("Retry-After: what the server asks for");
  options.choice<HintUse>(
      "retry-after", settings.use,
      {{"ignore", HintUse::kIgnore},
       {"replace", HintUse::kReplace},
       {"at-least", HintUse::kAtLeast},
       {"clamp", HintUse::kClamp},
       {"spread", HintUse::kSpread}},
      "what the wait is after an answer with a Retry-After: unchanged, the Retry-After, the "
      "longer of the two, the same but at most 5 s more than unchanged, or the Retry-After plus "
      "up to half of it at random");
  options
      .duration_or_none("retry-after-max", settings.longest,
                        "how long a Retry-After may be; a longer one counts as this")
      .with_range("1s", "1m");
}

void find_unused(UnusedOptions& unused, const HintUseSettings& settings,
                 const HintUseSettings& defaults) {
  if (settings.use == HintUse::kIgnore) {
    find_unused<HintUseSettings>(unused, settings, defaults, "with --retry-after=ignore",
                                 {"retry-after-max"});
  }
}

Duration with_hint(const HintUseSettings& settings, Duration wait, std::optional<Duration> hint,
                   Random& random) {
  if (!hint) return wait;
  const Duration asked = std::min(*hint, settings.longest);
  switch (settings.use) {
    case HintUse::kIgnore:
      return wait;
    case HintUse::kReplace:
      return asked;
    case HintUse::kAtLeast:
      return std::max(wait, asked);
    case HintUse::kClamp:
      return std::clamp(asked, wait, saturating_add(wait, kClampWidth));
    case HintUse::kSpread:
      return saturating_add(asked, scale(asked, 0.5 * random.uniform()));
  }
  return wait;
}

}  // namespace retrystorm
