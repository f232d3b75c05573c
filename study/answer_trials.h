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
  bool must_turn = false;    // does only another verdict matter?

  // "20 of 20 runs down with --backlog=4096: ask whether ...", after how its runs differ.
  std::string text(const std::string& differences, const std::string& price) const {
    return differences + " with " + what + price + ": ask whether " + question;
  }
};

class AnswerTrials {
 public:
  // How the runs of a trial differ from those that were asked for.
  struct Difference {
    std::string text{};    // empty if they do not
    std::string titled{};  // the same beside a title that says "down", if that is shorter
    std::string price{};   // what a run that comes back costs its requests, unless the text says it
    double weight = 0;     // how much it changes the answer: up to 3; up to 1 if no verdict changes
  };

  struct Outcome {
    Trial trial;
    CellResult result;
    Difference difference;

    bool differs() const { return !difference.text.empty(); }
  };

  // Makes the runs: at most so many of each trial, and at most 60, with the seeds from `seed` on. `of_limit`: only what
  // a rate limit admits at once is tried, which hardly hangs on luck, so that one run says it.
  AnswerTrials(const AskedRow& asked, const Evaluator& evaluator, std::uint64_t seed,
               std::size_t runs, bool of_limit = false);

  // Is there anything that the answer may hang on?
  bool any() const { return tries_backlogs_ || has_trials_; }

  // Has anything that was tried another answer?
  bool hangs() const { return !others(true).empty(); }

  // What differs from what was asked, a short text each. `titled`: beside a title that says "down".
  std::vector<std::string> others(bool titled) const;

  // Those that change the answer most are first.
  const std::vector<Outcome>& outcomes() const { return outcomes_; }

  bool tries_backlogs() const { return tries_backlogs_ && asked_.has_value(); }
  // Nothing if it was stopped.
  const std::optional<BacklogTrial>& backlogs() const { return backlogs_; }

 private:
  void try_backlogs(const AskedRow& asked);
  void try_other(const Trial& trial, const AskedRow& asked);
  // Nothing if it was stopped.
  std::optional<CellResult> run_of(const ScenarioOptions& options, std::size_t runs) const;

  Evaluator evaluator_;
  std::uint64_t seed_;
  std::size_t runs_;
  bool tries_backlogs_, has_trials_ = false;
  std::optional<TriedBacklog> asked_{};  // where backlogs are tried
  std::optional<BacklogTrial> backlogs_{};
  std::vector<Outcome> outcomes_{};
};

}  // namespace retrystorm
