// The pacer: a client's pause between attempts. Failures lengthen it, successes shorten it.
#pragma once

#include <chrono>
#include <cstdint>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/random.h"
#include "model/retry/attempt.h"

namespace retrystorm {

struct PacerSettings {
  bool on = false;
  Duration initial_interval = std::chrono::milliseconds(500);
  Duration max_interval = std::chrono::minutes(15);
  double up_multiplier = 1.5;
  double down_multiplier = 0.9;
  std::uint32_t down_threshold = 10;
  double randomization = 0.3;
  Duration max_randomization = std::chrono::minutes(2);
};

void declare_options(OptionList& options, PacerSettings& settings);

// Adds the options that were given but have no effect. `defaults`: the strategy's own values.
void find_unused(UnusedOptions& unused, const PacerSettings& settings,
                 const PacerSettings& defaults);

// The AutoSleeper (sakthipriyan/go-utils, sleeper.go; "Responsive exponential backoff in Go",
// 2022). Each failure lengthens the pause, and every `down_threshold` successes shorten it. The
// client also pauses after successes, until the pause has fallen below `initial_interval`. Safe to
// share between threads: the pause is in the client's `RetryState`.
class Pacer {
 public:
  explicit Pacer(const PacerSettings& settings) : settings_(settings) {}

  // Lengthens the pause after a failure and returns it: a step up.
  Duration step_up(RetryState& state, Random& random) const;

  // Counts a success while there is a pause. Returns true if that was a step down.
  bool count_success(RetryState& state, Random& random) const;

 private:
  Duration randomized(Duration x, Random& random) const;

  PacerSettings settings_;
};

}  // namespace retrystorm
