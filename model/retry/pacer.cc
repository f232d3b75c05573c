#include "model/retry/pacer.h"

#include <algorithm>

namespace retrystorm {

void declare_options(OptionList& options, PacerSettings& settings) {
  options.group("Pacer: a pause before attempts that failures lengthen and successes shorten");
  options.yes_or_no(
      "pacer", settings.on,
      "whether each client pauses before its attempts, as in the strategy responsive");
  options.duration("initial-interval", settings.initial_interval,
                   "how long the first pause is; a pause that gets shorter than this ends",
                   Duration(1));
  options.duration("max-interval", settings.max_interval, "how long a pause may be", Duration(1));
  options
      .number("up-multiplier", settings.up_multiplier,
              "the factor by which each failure lengthens the pause", 1, 1e9)
      .with_range("1", "4");
  options.number("down-multiplier", settings.down_multiplier,
                 "the factor by which each step down shortens the pause", 0, 1);
  options.count("down-threshold", settings.down_threshold, "how many successes make a step down", 1,
                1'000'000'000);
  options.number("randomization", settings.randomization,
                 "how far each new pause varies at random, as a share of it", 0, 1);
  options.duration("max-randomization", settings.max_randomization, "how far it varies at most");
}

void find_unused(UnusedOptions& unused, const PacerSettings& settings,
                 const PacerSettings& defaults) {
  if (!settings.on) {
    find_unused<PacerSettings>(
        unused, settings, defaults, "without --pacer=yes",
        {"initial-interval", "max-interval", "up-multiplier", "down-multiplier", "down-threshold",
         "randomization", "max-randomization"});
  } else if (settings.randomization == 0) {
    find_unused<PacerSettings>(unused, settings, defaults, "with --randomization=0",
                               {"max-randomization"});
  }
}

Duration Pacer::step_up(RetryState& state, Random& random) const {
  const PacerSettings& s = settings_;
  state.pause =
      state.pause == Duration::zero()
          ? std::min(s.initial_interval, s.max_interval)
          : std::min(randomized(scale(state.pause, s.up_multiplier), random), s.max_interval);
  return state.pause;
}

bool Pacer::count_success(RetryState& state, Random& random) const {
  const PacerSettings& s = settings_;
  if (++state.successes < s.down_threshold) return false;
  state.successes = 0;
  state.pause = randomized(scale(state.pause, s.down_multiplier), random);
  if (state.pause < s.initial_interval) state.pause = Duration::zero();
  return true;
}

// Uniform in x +- min(randomization * x, max_randomization).
Duration Pacer::randomized(Duration x, Random& random) const {
  const Duration spread = std::min(scale(x, settings_.randomization), settings_.max_randomization);
  if (spread == Duration::zero()) return x;
  const Duration drawn = saturating_add(x - spread, scale(spread, 2 * random.uniform()));
  return std::max(drawn, Duration::zero());
}

}  // namespace retrystorm
