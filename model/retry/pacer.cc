#include "model/retry/pacer.h"

#include <algorithm>

namespace retrystorm {

void declare_options(OptionList& options, PacerSettings& settings) {
  options.group("Pacer: a pause that failures lengthen, successes shorten");
  options.yes_or_no("pacer", settings.on, "whether each client paces itself, as responsive does");
  options.duration("initial-interval", settings.initial_interval,
                   "first pause; under it the pause ends", Duration(1));
  options.duration("max-interval", settings.max_interval, "longest pause", Duration(1));
  options
      .number("up-multiplier", settings.up_multiplier, "what each failure multiplies the pause by",
              1, 1e9)
      .over("1", "4");
  options.number("down-multiplier", settings.down_multiplier,
                 "what a step down multiplies the pause by", 0, 1);
  options.count("down-threshold", settings.down_threshold, "successes that make a step down", 1,
                1'000'000'000);
  options.number("randomization", settings.randomization,
                 "each new pause is drawn from this share around it", 0, 1);
  options.duration("max-randomization", settings.max_randomization,
                   "but from no more than this around it");
}

void find_unused(UnusedOptions& unused, const PacerSettings& settings, const PacerSettings& usual) {
  if (!settings.on) {
    find_unused<PacerSettings>(
        unused, settings, usual, "without --pacer=yes",
        {"initial-interval", "max-interval", "up-multiplier", "down-multiplier", "down-threshold",
         "randomization", "max-randomization"});
  } else if (settings.randomization == 0) {
    find_unused<PacerSettings>(unused, settings, usual, "with --randomization=0",
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
