// What is printed below a table about what its answers hang on.
#pragma once

#include <string>
#include <vector>

#include "common/output/json_lines.h"
#include "study/answer_trials.h"

namespace retrystorm {

struct TrialsOfRow {
  std::string row;  // its name; may be empty for a single row
  AnswerTrials trials;
};

// Prints a line about the backlog, and one for each trial that differs: once for all rows in which it is tried, and
// those first that change the most answers.
void tell_trials(const std::vector<TrialsOfRow>& rows, JsonLines& json);

}  // namespace retrystorm
