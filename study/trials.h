// What the answer of a setting may hang on: options that nobody gave, or knows to a tenth only. Each row of a table in
// trials.cc tries some of them.
//
// A frozen process finds a full accept queue when it wakes, whose length decides whether the service comes back, and
// which few people know. So of the backlog the edge is looked for, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/output/expectation.h"
#include "common/output/json_text.h"
#include "model/base/statement.h"
#include "simulator/scenario_options.h"
#include "study/cell_result.h"
#include "study/evaluator.h"
#include "study/named_options.h"
#include "study/statistics.h"

namespace retrystorm {

// Of the requests after an outage so large a share less succeeds that it is another answer.
inline constexpr double kClearlyLess = 0.1;

// A setting whose answer is looked at.
// The references must outlive the trials.
struct AskedRow {
  const ScenarioOptions& options;
  const NamedOptions& given;  // the options that were given
  const CellResult& result;   // its runs
  // Claims that hold of it: a trial of which one is broken has another answer.
  std::vector<Expectation> holding{};
};

// The setting with something else.
struct Trial {
  std::string_view row{};                                   // the id of the table's row
  std::vector<std::pair<std::string, std::string>> with{};  // options and values; may be empty
  Statement what{};  // in place of options, where it has none
  Statement note{};  // what a reader should know, or find out
  ScenarioOptions options{};
  bool is_estimate = false;  // nobody knows the value better where it was given
  bool may_win = false;      // does it matter how many succeed in the outage?
  bool must_turn = false;    // does only another verdict matter?
};

class AnswerTrials {
 public:
  enum class Turn {
    kNone,       // the same answer
    kDown,       // most runs are down
    kBack,       // most come back
    kNotBack,    // most are not back at the end
    kLessAfter,  // clearly fewer requests succeed after the outage
    kInOutage,   // clearly fewer, or more, succeed in it
    kLessOk,     // without an outage: clearly fewer OK/s
    kClaim,      // a claim is broken
  };

  struct Outcome {
    Trial trial{};
    CellResult result{};
    Turn turn = Turn::kNone;
    double weight = 0;  // how much it changes the answer: up to 3; up to 1 if no verdict changes
    Statement how{};    // "down in 60 of 60 runs"; empty where nothing turns
    // Of the row of the backlog: where the answer changes, with two digits.
    std::optional<std::size_t> edge{};
  };

  // `runs`: of each trial at most, and at most 60, with the seeds from `seed` on.
  AnswerTrials(const AskedRow& asked, const Evaluator& evaluator, std::uint64_t seed,
               std::size_t runs);

  // Those of ten percent, which belong to the answer: load and capacity, and the capacity as far as it was measured, 20 runs
  // each. Returns all that were made.
  std::vector<Outcome> of_a_tenth() const;

  // The others. `turned` is told of each that turns the answer, as it comes. Returns all that were made.
  std::vector<Outcome> others(const std::function<void(const Outcome&)>& turned = {}) const;

 private:
  std::vector<Outcome> tried(bool of_a_tenth, std::size_t runs,
                             const std::function<void(const Outcome&)>& turned) const;
  std::optional<Outcome> outcome_of(const Trial& trial, std::size_t runs) const;
  std::optional<std::size_t> edge_between(std::size_t one, std::size_t other,
                                          bool one_is_down) const;

  const AskedRow asked_;
  const Evaluator evaluator_;
  const std::uint64_t seed_;
  const std::size_t runs_;
};

// Of a service that was measured: the share of the runs that end as most do, with the least and the greatest capacity that
// the measurement allows. Nothing where that was not tried, or is the same.
std::optional<Interval> within_measured(const CellResult& result,
                                        const std::vector<AnswerTrials::Outcome>& outcomes);

// Does most of its runs end otherwise than those that were asked for?
bool turns_verdict(const AnswerTrials::Outcome& outcome);

// Good only if it brings the service back.
inline Tone tone_of(const AnswerTrials::Outcome& outcome) {
  return outcome.turn == AnswerTrials::Turn::kBack ? Tone::kGood : Tone::kDoubt;
}

// "--connections=keep-alive --pool-size=128", or what it is in words.
std::string what_of(const Trial& trial);

// "down in 60 of 60 runs with --backlog=511: nginx and Node.js ask for 511, ..."
std::string trial_words(const AnswerTrials::Outcome& outcome);

// The line of the trial in JSON: {"type": "trial", ...}. `row`: that of a table; may be empty.
Json trial_json(const std::string& row, const AnswerTrials::Outcome& outcome);

}  // namespace retrystorm
