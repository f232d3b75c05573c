// The answer of many runs, and what could turn it.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "common/output/expectation.h"
#include "common/output/style.h"
#include "simulate/options.h"
#include "study/cell_answer.h"
#include "study/cell_result.h"
#include "study/named_options.h"
#include "study/study.h"
#include "study/sweep.h"
#include "study/trials.h"

namespace retrystorm {

struct AnsweredCell {
  CellResult result{};
  std::vector<Expectation> holding{};  // the claims that hold
};

// Prints to standard output, and the trials as lines of the study's JSON, too. All that it is given must outlive it.
class ManyAnswers {
 public:
  ManyAnswers(const SimulatorOptions& options, const NamedOptions& given, const Grid& grid,
              Study& study);

  // Of a grid's only row the answer, at once; then what could turn it, and what helps, as it comes. Of several rows the
  // table, what is to be seen in it, and what could turn its rows. `complete`: else it was stopped.
  void tell(const std::map<std::size_t, AnsweredCell>& cells, bool complete) const;

 private:
  void tell_one(const AnsweredCell& cell) const;
  void tell_rows(const std::map<std::size_t, AnsweredCell>& cells,
                 const std::vector<AnsweredRow>& rows, bool complete) const;
  void print_all_figures(const std::vector<AnsweredRow>& rows) const;
  AnswerTrials trials_of(const ScenarioOptions& options, const NamedOptions& row,
                         const AnsweredCell& cell) const;
  std::string tell_strip(const ScenarioOptions& options, const CellResult& result) const;
  void tell_help(const ScenarioOptions& options, const NamedOptions& row, const CellResult& result,
                 const AnswerTrials::Outcome* worst) const;

  const SimulatorOptions& options_;
  const NamedOptions& given_;
  const Grid& grid_;
  Study& study_;
  const Evaluator evaluator_;
  const Style style_;
};

}  // namespace retrystorm
