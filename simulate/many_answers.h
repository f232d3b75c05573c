// The answer of many runs, and what could turn it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "common/output/expectation.h"
#include "common/output/json_lines.h"
#include "common/output/style.h"
#include "simulate/options.h"
#include "study/campaign.h"
#include "study/cell_columns.h"
#include "study/cell_result.h"
#include "study/named_options.h"
#include "study/sweep.h"
#include "study/trials.h"

namespace retrystorm {

struct AnsweredCell {
  CellResult result{};
  std::vector<Expectation> holding{};  // the claims that hold
};

// Prints to standard output, and the trials as lines of `json`, too. All that it is given must outlive it.
class ManyAnswers {
 public:
  ManyAnswers(const SimulatorOptions& options, const NamedOptions& given, const Grid& grid,
              const CampaignOptions& campaign, const std::function<bool()>& stop, JsonLines& json);

  // The answer of a grid's only row, at once; then what could turn it, and what helps, as it comes.
  void tell_one(const AnsweredCell& cell, const MoreColumns& more) const;

  // The table of all rows, what is to be seen in it, and what could turn its rows. `complete`: else it was stopped.
  void tell_rows(const std::map<std::size_t, AnsweredCell>& cells, bool complete) const;

 private:
  AnswerTrials trials_of(const ScenarioOptions& options, const NamedOptions& row,
                         const AnsweredCell& cell) const;
  std::string tell_strip(const ScenarioOptions& options, const CellResult& result) const;
  void tell_help(const ScenarioOptions& options, const NamedOptions& row, const CellResult& result,
                 const AnswerTrials::Outcome* worst) const;

  const SimulatorOptions& options_;
  const NamedOptions& given_;
  const Grid& grid_;
  const CampaignOptions campaign_;
  const std::function<bool()> stop_;
  JsonLines& json_;
  const Evaluator evaluator_;
  const Style style_;
};

}  // namespace retrystorm
