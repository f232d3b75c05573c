// Results of runs as JSON, and their summaries.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "study/cell_result.h"

namespace retrystorm {

// Writes times in nanoseconds, so that `read_result` returns exactly the same result.
nlohmann::ordered_json result_json(const RunResult& result);
// Throws nlohmann's exceptions if it is not a result.
RunResult read_result(const nlohmann::ordered_json& json);

// A row of a sweep, without its options.
nlohmann::ordered_json cell_json(const CellResult& cell);

// How `ours` differ from `theirs`, compared by seed: means of the differences with their 95 %
// intervals. For the share of runs that were down at the end, among the runs with a verdict, with
// Newcombe's interval. Null if there is nothing to compare. Throws std::invalid_argument if the
// numbers of runs differ.
nlohmann::ordered_json difference_json(const std::vector<RunResult>& ours,
                                       const std::vector<RunResult>& theirs);

}  // namespace retrystorm
