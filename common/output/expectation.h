// Claims about a run or about many runs, for the option `--expect`. A claim is a verdict ("recovered")
// or a limit on a figure ("down<5%", "success-share>=99%", "recovery-median<20s").
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/exit_code.h"
#include "common/output/answer.h"
#include "common/output/json_text.h"
#include "model/run/recovery.h"
#include "model/run/run_observer.h"

namespace retrystorm {

class JsonLines;

// Figures by name. A figure X with an interval has X_low and X_high beside it. Null: a time that
// never came, or a figure that does not exist.
using Figures = Json;

// The figures of one run: those of its summary, with the names of nested ones joined by "_". The
// verdicts and "down" (collapsed or relapsed) are 1 or 0. "down" is null if the run is still recovering,
// or is undecided.
Figures run_figures(const Summary& summary);
// And the times of all requests, by the names that they have in tables of many runs.
Figures client_figures(const Summary& summary);

// A summary with every part that a run can have. It shows the names of all figures.
Summary any_summary();

// Is the figure 1 or 0 in a single run? In many runs it is then the share of runs with 1.
bool is_of_verdict(std::string_view figure);

struct Expectation {
  enum class Relation { kBelow, kAtMost, kAbove, kAtLeast, kEqual };

  std::string text;                // as typed
  std::optional<Verdict> verdict;  // if set, this is the whole claim
  std::string figure;              // a name of the figures
  Relation relation = Relation::kBelow;
  double bound = 0;      // in the figure's unit
  bool percent = false;  // a share, for print
  double time_unit = 0;  // if the figure is a time: its unit in seconds
};

// Reads a claim about one of these figures. A name may have "-", "_" or "." between its words, and
// may leave out units, "share" and "median". Throws std::invalid_argument with a readable message.
Expectation parse_expectation(const std::string& text, const Figures& known);

enum class Finding { kHolds, kBroken, kUndecided };

std::string_view to_string(Finding finding);

// A claim after some runs.
struct Judgement {
  Finding finding = Finding::kUndecided;
  std::optional<double> value{};        // of the figure; infinite for a time that never came
  std::optional<double> low{}, high{};  // its interval, if it has one
  // Of a figure of the whole run with an outage: the same figure after the outage, and its name.
  std::optional<std::pair<std::string, double>> after{};
  std::string why{};  // if a verdict is not the expected one: its reason
  std::size_t runs = 1;
  // Those of the runs that are still recovering, if they leave a claim about `down` undecided.
  std::size_t recovering = 0;
  bool stopped = false;  // not looked at further, because another claim is broken
  // The same as `recovering` of those without a verdict: more time does not help.
  std::size_t undecided = 0;
  std::optional<Statement> doubt{};  // why it is not decided, and more runs do not help
};

// Judges a claim about a figure: by its interval if it has one, otherwise by its value.
Judgement judge(const Expectation& expectation, const Figures& figures);

// Where such a share of the requests is left out of a success that is not decided, says so if no number of runs
// decides it: the interval reaches down to where all of them fail.
void doubt_success(const Expectation& expectation, double left_out, Judgement& judgement);

// A claim that the service comes back does not hold where OK/s that are back say little, if `why` is there.
void doubt_recovery(const Expectation& expectation, const std::optional<Statement>& why,
                    Judgement& judgement);

// Why it says little that a service is not down if so few requests, a share, were answered: of those before the outage,
// in that time, or without one, of all. Nothing if enough were.
std::optional<Statement> few_answered(double share, bool outage);

// Judges a claim about the verdict of one run. A run without a verdict decides nothing.
Judgement judge(const Expectation& expectation, Verdict verdict);

// About how many runs decide a claim that is not decided, if its value stays as it is: more than there were. The
// interval of a mean shrinks with the root of the runs. That of a share of the runs is Wilson's.
// Nothing if more runs would hardly help.
std::optional<std::size_t> runs_to_decide(const Expectation& expectation,
                                          const Judgement& judgement);

// The value with its interval, and why it is not decided, or what would decide it.
Statements details_of(const Expectation& expectation, const Judgement& judgement);
// "✓ down<5% holds: 0 % (95 %: 0 % to 2.9 %), 200 runs", as a line. `row`: of which row it is, or empty.
RunAnswer answer_of(const Expectation& expectation, const Judgement& judgement,
                    const std::string& row = "");
Json judgement_json(const Expectation& expectation, const Judgement& judgement);

// The exit code of the worst of these findings.
ExitCode exit_code_of(const std::vector<Finding>& findings);

// Judges each run that it observes by its values, because one run has no intervals. Prints a line for
// each claim after the summary.
class RunJudge final : public CurveRecorder {
 public:
  // All must outlive the judge.
  // `held_back`: a doubt about all claims of the recovery, see `doubt_recovery`.
  RunJudge(const std::vector<Expectation>& expectations, std::ostream& out, JsonLines& json,
           std::optional<Statement> held_back = std::nullopt)
      : expectations_(expectations), out_(out), json_(json), held_back_(std::move(held_back)) {}

  void on_summary(const Summary& summary) override { judge(summary, client_figures(summary)); }

  // By these figures, which may be more than those of the summary.
  void judge(const Summary& summary, const Figures& figures);

  // Of all runs so far.
  ExitCode exit_code() const { return exit_code_of(findings()); }
  std::vector<Finding> findings() const;
  const std::vector<Judgement>& judgements() const { return judgements_; }

 private:
  const std::vector<Expectation>& expectations_;
  std::ostream& out_;
  JsonLines& json_;
  const std::optional<Statement> held_back_;
  std::vector<Judgement> judgements_;
};

}  // namespace retrystorm
