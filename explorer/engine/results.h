// Results of runs as JSON, and what they say together.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "simulator/cell_result.h"

namespace retrystorm {

// Times in nanoseconds, so that they come back as they were.
nlohmann::ordered_json result_json(const RunResult& result);
// Throws nlohmann's exceptions where it is none.
RunResult read_result(const nlohmann::ordered_json& json);

// A row of a sweep, without its options.
nlohmann::ordered_json cell_json(const CellResult& cell);

// How much `ours` differ from `theirs`, run by run of the same seed: means of the differences with
// their 95 % intervals, and of the share that collapsed Newcombe's interval. Null where there is
// nothing to compare. Throws std::invalid_argument when they are not as many.
nlohmann::ordered_json difference_json(const std::vector<RunResult>& ours,
                                       const std::vector<RunResult>& theirs);

}  // namespace retrystorm
