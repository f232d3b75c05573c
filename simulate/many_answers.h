// The answer of many runs, and what could turn it.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "common/output/expectation.h"
#include "simulate/options.h"
#include "study/cell_result.h"
#include "study/named_options.h"
#include "study/study.h"
#include "study/sweep.h"

namespace retrystorm {

struct AnsweredCell {
  CellResult result{};
  std::vector<Expectation> holding{};  // the claims that hold
};

// Prints to standard output, and what was tried as lines of the study's JSON, too. Of a grid's only row the answer, at
// once; then what could turn it, and what helps, as it comes. Of several rows the table, what is to be seen in it, and
// what could turn its rows. `complete`: else it was stopped.
void tell_answers(const SimulatorOptions& options, const NamedOptions& given, const Grid& grid,
                  Study& study, const std::map<std::size_t, AnsweredCell>& cells, bool complete);

}  // namespace retrystorm
