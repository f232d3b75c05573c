// What a search of retry settings needs: the settings that it may try (some to begin with, and changes to them), and their
// simulated runs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/output/expectation.h"
#include "policies/export.h"
#include "retrystorm/study_command.h"
#include "study/cell_result.h"
#include "study/evaluator.h"
#include "study/named_options.h"
#include "study/search.h"
#include "study/sweep.h"

namespace retrystorm {

// Of settings, the first number is the strategy, and the others are changes to the first strategy, with values
// that people write. All other strategies are tried as they are, if they retry what the first one retries.
// The attempts of all are limited, unless those of the first one are not and must stay. If it has a budget, a
// deadline or a breaker, or attempts without an end, all others have one, too.
class PolicySpace {
 public:
  // `strategies`: the first one is to be changed. `given` holds for all of them; neither these options nor
  // those of the names `fixed` are changed. With a format, only settings are allowed of which it can say
  // as much as of the first strategy. Throws std::invalid_argument with a readable message if `fixed` has
  // the name of no knob.
  PolicySpace(std::vector<ListedStrategy> strategies, const NamedOptions& given,
              const std::vector<std::string>& fixed, std::optional<ExportFormat> format);
  PolicySpace(const PolicySpace&) = delete;
  PolicySpace& operator=(const PolicySpace&) = delete;

  const Knobs& knobs() const { return knobs_; }
  // The strategies that are allowed, as they are, and all single changes to the first one, a budget or breaker
  // also with its numbers; spread over them, if there are more than this.
  std::vector<Settings> simplest(std::size_t most) const;
  Settings strategy(std::size_t number) const;
  const std::string& name(std::size_t strategy) const { return strategies_[strategy].name; }

  // The changes to the strategy, by option.
  NamedOptions changes(const Settings& settings) const;
  // `common` with these settings.
  NamedOptions options_of(const Settings& settings, const NamedOptions& common) const;
  // The attempts, waits, budget, deadline, what is retried and the timeout, each as its option has it.
  // Those without effect are left out.
  std::vector<std::pair<std::string, std::string>> in_full(const Settings& settings) const;
  // What a settings file of the strategy says, besides the changes.
  NamedOptions settings_of(std::size_t strategy) const;
  // The names of the knobs.
  std::vector<std::string> names() const;

 private:
  struct Knob {
    std::string name;
    std::vector<std::string> values;  // the first one is empty: as it is
  };

  bool settle(Settings& settings) const;
  std::set<std::string> lost_in_file(const WorkloadOptions& workload) const;

  const std::vector<ListedStrategy> strategies_;
  const NamedOptions given_;
  const std::optional<ExportFormat> format_;
  std::set<std::string> may_be_lost_{};
  RetryOn retry_on_{};  // of the first strategy
  Duration timeout_{};
  bool must_be_bounded_ = false, must_be_limited_ = false;
  std::vector<Knob> knob_list_{};
  Knobs knobs_{};
};

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
  // `scenario` gets settings and a situation. Seeds count from `first_seed`. `ran` gets the result of each run. The
  // situations and the evaluator must outlive the trials.
  SimulatedTrials(const std::vector<StudyDisturbance>& situations,
                  std::vector<SituationClaim> claims, const Evaluator& evaluator,
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

  const std::vector<StudyDisturbance>& situations_;
  const std::vector<SituationClaim> claims_;
  const Evaluator& evaluator_;
  const std::uint64_t first_seed_;
  const std::function<Scenario(const Settings&, const StudyDisturbance&)> scenario_;
  const std::function<void(const RunResult&)> ran_;
  std::map<Settings, Tried> tried_;
};

}  // namespace retrystorm
