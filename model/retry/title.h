// A short name for the settings of a retry policy.
#pragma once

#include <string>

#include "model/retry/retry_settings.h"

namespace retrystorm {

// "fixed retries" if the settings are exactly those of the named strategy. Otherwise the settings in
// force: "exponential from 100ms x 2, full jitter, 5 retries, budget 10 %".
std::string retries_title(const RetrySettings& settings);
// The settings in force, also where they are those of a named strategy.
std::string retries_in_words(const RetrySettings& settings);

}  // namespace retrystorm
