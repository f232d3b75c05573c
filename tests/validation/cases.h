// The cases that validate the simulator, in the order of docs/validation.csv.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace retrystorm::validation {

// Returns the figure of a run with this seed, or NaN if there is none. May be called from several
// threads.
using Measure = std::function<double(std::uint64_t seed)>;

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

// Those of services behind services, and of several hosts.
std::vector<Case> graph_cases();
std::vector<Case> layer_cases();
std::vector<Case> replica_cases();

}  // namespace retrystorm::validation
