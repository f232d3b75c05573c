// Helpers for the tests of a policy's parts.
#pragma once

#include <optional>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/retry/attempt.h"

namespace retrystorm::test {

inline constexpr TimePoint kStart{std::chrono::hours(1)};

inline const AttemptResult kOk;
inline const AttemptResult kTimeout = timed_out(std::chrono::seconds(2));
inline const AttemptResult kError = answered(500, std::nullopt, std::chrono::milliseconds(1));
inline const AttemptResult kThrottled = answered(429, std::nullopt, std::chrono::milliseconds(1));
inline const AttemptResult kNotFound = answered(404, std::nullopt, std::chrono::milliseconds(1));

// A part's settings from lines of `name = value`, as in a strategy's file.
template <typename Settings>
Settings settings_of(std::string_view text) {
  Settings settings;
  OptionList options;
  declare_options(options, settings);
  options.apply(text);
  refuse(unused_of_part(settings));
  if constexpr (requires { check(settings); }) check(settings);
  return settings;
}

}  // namespace retrystorm::test
