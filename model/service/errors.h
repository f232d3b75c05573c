// Requests that the service fails deliberately.
#pragma once

#include "model/base/option_list.h"
#include "model/base/random.h"

namespace retrystorm {

// When such a request fails.
enum class ErrorAfter {
  kAdmission,  // at once, before it enters the service
  kService,    // after it has been served normally
};

struct ErrorSettings {
  double share = 0;  // in [0, 1], of requests that pass rate limit and load shedding; 0 = off
  int status = 503;  // HTTP status of the answer
  ErrorAfter after = ErrorAfter::kAdmission;
};

// The share that fails by one of two independent causes.
inline double either_fails(double a, double b) {
  if (a == 0 || b == 0) return a + b;
  return 1 - (1 - a) * (1 - b);
}

inline constexpr int kLeastErrorStatus = 400, kMostErrorStatus = 599;

void declare_options(OptionList& options, ErrorSettings& settings);

// Adds the numbers that were given but are not used.
void find_unused(UnusedOptions& unused, const ErrorSettings& settings);

// Whether a request fails at this point. Each one fails independently. Draws no random number where
// the result is certain.
inline bool fails(const ErrorSettings& settings, ErrorAfter point, Random& random) {
  return settings.share > 0 && settings.after == point && random.uniform() < settings.share;
}

}  // namespace retrystorm
