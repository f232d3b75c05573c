// What is tried with a row of a table besides what was asked, for the answer may hang on options that were not
// given: another backlog, a server that skips requests whose clients have hung up, a tenth more load, and so on.
// Each trial is one rule in answer_trials.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/output/expectation.h"
#include "common/output/json_lines.h"
#include "simulator/scenario_options.h"
#include "study/backlog_trial.h"
#include "study/cell_result.h"
#include "study/evaluator.h"
#include "study/named_options.h"

namespace retrystorm {

// A row whose answer is looked at.
struct AskedRow {
  const ScenarioOptions& options;
  const NamedOptions& given;  // the options that were given
  const CellResult& result;   // its runs
  // Claims that hold of it, in words: a trial of which one is broken has another answer.
  const std::vector<Expectation>& holding;
};

// Another value of an option.
struct Trial {
  std::string option, value;
  std::string question;  // what a reader is to ask himself
  ScenarioOptions options;
  std::string what = "--" + option + '=' + value;
  bool is_estimate = false;  // the value of the row is no better known where it was given
  bool may_win = false;      // does it matter if more, or fewer, succeed in the outage?
};

class AnswerTrials {
 public:
  // Makes the runs: at most so many of each trial, and at most 60, with the seeds from `seed` on.
  AnswerTrials(const AskedRow& asked, const Evaluator& evaluator, std::uint64_t seed,
               std::size_t runs);

  // Is there anything that the answer may hang on?
  bool any() const { return tries_backlogs_ || has_trials_; }

  // Has anything that was tried another answer?
  bool hangs() const { return !others(true).empty(); }

  // What differs from what was asked, a short text each. `titled`: beside a title that says "down".
  std::vector<std::string> others(bool titled) const;

  // Prints a line for each trial that differs, after `label`, and one about the backlog.
  void tell(const std::string& label, JsonLines& json) const;

 private:
  struct Outcome {
    Trial trial;
    CellResult result;
    // How it differs from what was asked, also beside a title that says "down". Empty if it does not.
    std::string difference, titled;
    bool is_price = false;  // does it say what the outage costs requests?

    bool differs() const { return !difference.empty(); }
  };

  void try_backlogs(const AskedRow& asked);
  void try_other(const Trial& trial, const AskedRow& asked);
  // Nothing if it was stopped.
  std::optional<CellResult> run_of(const ScenarioOptions& options, std::size_t runs) const;
  void tell_backlogs(const std::string& label, JsonLines& json) const;

  Evaluator evaluator_;
  std::uint64_t seed_;
  std::size_t runs_;
  bool tries_backlogs_, has_trials_ = false;
  std::optional<TriedBacklog> asked_{};  // where backlogs are tried
  std::optional<BacklogTrial> backlogs_{};
  std::vector<Outcome> outcomes_{};
};

}  // namespace retrystorm
