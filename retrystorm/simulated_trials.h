// Simulated runs of retry settings, for a search.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "common/output/expectation.h"
#include "retrystorm/study_command.h"
#include "study/cell_result.h"
#include "study/evaluator.h"
#include "study/search.h"

namespace retrystorm {

// A claim about a figure of many runs.
struct SituationClaim {
  Expectation claim;
  std::optional<std::size_t> only_in{};  // a situation; empty: it is about each
};

// A figure for the costs and tables: what settings do in all situations together.
struct SituationFigures {
  // Until 90 % of the runs were back, in the worst outage. Empty if that took longer than the runs.
  std::optional<Duration> back{Duration::zero()};
  double failed = 0;    // share of the requests, mean over the situations in which that is a cost
  double attempts = 1;  // per request, mean over the situations
  std::vector<double> in_outage{};  // success of the requests that began in each outage
  std::vector<double> in_errors{};  // success in each of the other situations
  double most_attempts = 1;         // per request, in the worst situation with an outage
};

// Where a claim is missed the most.
struct MissedClaim {
  double by = 0;  // as a share of its bound
  std::size_t situation = 0;
  double value = 0;  // infinite for a time that never came
};

// Down, or not back at the end.
inline bool may_be_down(const RunResult& run) {
  return run.verdict != Verdict::kRecovered && run.verdict != Verdict::kNoOutage;
}

class SimulatedTrials final : public Trials {
 public:
  // `scenario` gets settings and a situation. Seeds count from `first_seed`. `ran` gets the result of each run. All
  // must outlive the trials.
  SimulatedTrials(const std::vector<StudyDisturbance>& situations,
                  const std::vector<SituationClaim>& claims, const Evaluator& evaluator,
                  std::uint64_t first_seed,
                  std::function<Scenario(const Settings&, const StudyDisturbance&)> scenario,
                  std::function<void(const RunResult&)> ran);

  bool run(const std::vector<Settings>& all, std::size_t situation, std::size_t until) override;
  // A run that is not back at its end counts as down, because it may be. The costs are in shares of the
  // requests that fail: 1 % of them is as bad as a tenth of an attempt more for each request, and as 10 s
  // more until 90 % of the runs are back.
  Standing standing(const Settings& settings) const override;

  // Empty before the first run.
  const std::vector<RunResult>& runs(const Settings& settings, std::size_t situation) const;
  SituationFigures figures(const Settings& settings) const;
  // Which claims, by number, are missed. With `misses`, also those that are not proven to hold, with this
  // probability of being wrong.
  std::map<std::size_t, MissedClaim> missed(const Settings& settings,
                                            std::optional<double> misses = std::nullopt) const;

 private:
  struct Tried {
    std::vector<std::vector<RunResult>> runs;  // by situation
    mutable std::optional<Standing> standing{};
  };
  const Tried* find(const Settings& settings) const;

  const std::vector<StudyDisturbance>& situations_;
  const std::vector<SituationClaim>& claims_;
  const Evaluator& evaluator_;
  const std::uint64_t first_seed_;
  const std::function<Scenario(const Settings&, const StudyDisturbance&)> scenario_;
  const std::function<void(const RunResult&)> ran_;
  std::map<Settings, Tried> tried_;
};

}  // namespace retrystorm
