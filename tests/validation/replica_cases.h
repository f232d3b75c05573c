// Services of several hosts: the parts of `cases()` about pickers.
#pragma once

#include <vector>

#include "tests/validation/cases.h"

namespace retrystorm::validation {

std::vector<Case> replica_cases();

}  // namespace retrystorm::validation
