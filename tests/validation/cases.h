// The cases that validate the simulator, in the order of docs/validation.csv.
#pragma once

#include <string>
#include <vector>

#include "tests/validation/measures.h"

namespace retrystorm::validation {

struct Case {
  int row = 0;         // in docs/validation-sources.csv
  std::string what{};  // what is measured
  double expected = 0;
  enum class Relation { kEqual, kLess } relation = Relation::kEqual;  // measured to expected
  double tolerance = 0;  // a share; for formulas that hold only in a limit
  Measure measure{};
};

// A case's seeds depend on its place in the list. Add new cases at the end, so that the figures of
// the others stay the same.
std::vector<Case> cases();

}  // namespace retrystorm::validation
