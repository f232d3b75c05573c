// The cases with services behind services, in the order of docs/validation.csv.
#pragma once

#include <vector>

#include "tests/validation/cases.h"

namespace retrystorm::validation {

std::vector<Case> graph_cases();
std::vector<Case> layer_cases();

}  // namespace retrystorm::validation
