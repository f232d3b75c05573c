#include "model/retry/hint.h"

#include <algorithm>
#include <chrono>

namespace retrystorm {
namespace {

constexpr Duration kClampWidth = std::chrono::seconds(5);

}  // namespace

void declare_options(OptionList& options, HintSettings& settings) {
  options.group("Retry-After: what the server asks for");
  options.choice<HintUse>(
      "retry-after", settings.use,
      {{"ignore", HintUse::kIgnore},
       {"replace", HintUse::kReplace},
       {"at-least", HintUse::kAtLeast},
       {"clamp", HintUse::kClamp},
       {"spread", HintUse::kSpread}},
      "what becomes of the wait when the answer has a Retry-After: nothing, it is that, at least "
      "that, that but no more than 5 s longer, or up to half as long again at random");
  options
      .duration_or_none("retry-after-max", settings.longest,
                        "a Retry-After that is longer is taken for this")
      .over("1s", "1m");
}

void find_unused(UnusedOptions& unused, const HintSettings& settings, const HintSettings& usual) {
  if (settings.use == HintUse::kIgnore) {
    find_unused<HintSettings>(unused, settings, usual, "with --retry-after=ignore",
                              {"retry-after-max"});
  }
}

Duration with_hint(const HintSettings& settings, Duration wait, std::optional<Duration> hint,
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
