// Requests that the service fails on purpose.
#pragma once

#include "model/base/option_list.h"
#include "model/base/random.h"

namespace retrystorm {

// When a request that is to fail does so.
enum class ErrorAfter {
  kAdmission,  // at once: it never is in the service
  kService,    // when it has been served like any other
};

struct ErrorSettings {
  double share = 0;  // in [0, 1], of the requests that the rate limit and shedding let in; 0 = off
  ErrorAfter after = ErrorAfter::kAdmission;
};

void declare_options(OptionList& options, ErrorSettings& settings);

// Adds the numbers that were given but are not used.
void find_unused(UnusedOptions& unused, const ErrorSettings& settings);

// Whether a request that has come to this point fails there. Each fails independently of all
// others. Draws nothing where there is nothing to draw for.
inline bool fails(const ErrorSettings& settings, ErrorAfter point, Random& random) {
  return settings.share > 0 && settings.after == point && random.uniform() < settings.share;
}

}  // namespace retrystorm
