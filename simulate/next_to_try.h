// What to try next, after a run or after a table of many.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/output/expectation.h"
#include "model/run/run_observer.h"
#include "simulator/scenario_options.h"
#include "study/campaign.h"
#include "study/cell_result.h"
#include "study/named_options.h"

namespace retrystorm {

// What was seen in a run, or in most of many. Many runs count as collapsed if a fifth of them is down:
// what is offered to the others claims less (`down<20%`).
struct Seen {
  Verdict verdict = Verdict::kNoOutage;
  bool budget_used_up = false;  // did it refuse retries?
  std::size_t processes = 0;
  double throttled = 0;                // share of the attempts
  std::optional<Duration> to_watch{};  // to see a queue empty
  double success_in_outage = 0;
  bool back_in_vain = false;  // OK/s are back, but most requests after the outage are not answered

  // Are so many attempts turned away that the clients should know the limit?
  bool is_throttled() const { return throttled > 0.2; }
};
Seen seen_in(const Summary& summary);
Seen seen_in(const CellResult& cell);

// Something to try next. The options are empty if it has no values of its own: "fewer
// --processes".
struct Suggestion {
  NamedOptions options{};
  std::string text{};
  bool of_service = false;  // a change of the service, not of its clients
};

// What to try after runs like this, the most promising first.
std::vector<Suggestion> next_to_try(const ScenarioOptions& options, const Seen& seen);

// The row of a table of which most can be said: one that is down, or else one whose attempts are turned
// away, or one that is still recovering. The first of these.
class RowToImprove {
 public:
  // Takes the rows in any order.
  void see(std::size_t row, const CellResult& result);

  std::size_t row() const { return row_; }
  const CellResult& result() const { return result_; }
  // Is nothing wrong with it?
  bool is_well() const { return urgency_ <= 1; }

 private:
  int urgency_ = -1;  // of no row
  std::size_t row_ = 0;
  CellResult result_{};
};

// Of claims of the success in an outage of errors: says that the attempts of a request are too few for
// one of them, and how many may do, with a line "try: --max-retries=N". If p of the attempts fail, at most
// 1 - p^n of the requests succeed with n attempts. Or that they are more than the service can do, where errors cost it as
// much as answers. Empty if there are enough.
std::string too_few_attempts(const ScenarioOptions& options,
                             const std::vector<Expectation>& claims);

// Of a search for the size of a budget (`budget-deposit`, `budget-share`): above which size its retries and the load
// are more than the workers can do, so that a storm sustains itself however short it was, as a line. Empty where
// that cannot be said.
std::string limit_by_arithmetic(const std::string& searched, const ScenarioOptions& options);

// With a budget of hedges of this share: how many processes may send them, so that all hedges are less than what
// the service can do and a queue drains. 0 if none, or if there is no limit.
std::size_t processes_with_room(const ScenarioOptions& options, double share);
std::string room_text(std::size_t processes);

}  // namespace retrystorm
