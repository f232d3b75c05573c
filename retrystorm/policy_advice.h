// What there is to say of a policy once it has run in each disturbance: what was not put to the test, what its
// retry budget does, and which change of it, or of the service, helps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrystorm/policy_cells.h"
#include "study/answer_trials.h"

namespace retrystorm {

class PolicyAdvice {
 public:
  // `label`: before each line, such as "file.yaml:12: ". `runs`: of the policy in each of `disturbances`, in
  // their order; empty where there are none yet. `words`: the options that were given, for a command. All references must outlive the advice.
  PolicyAdvice(std::string label, const PolicyToRun& policy,
               const std::vector<StudyDisturbance>& disturbances, std::vector<const Runs*> runs,
               const Study& study, const StudyOptions& options, const NamedOptions& given,
               const std::string& words);

  // Says where nothing that failed is retried.
  void print_not_retried() const;

  // Says what a retry budget, such as gRPC's retryThrottling, does: it fails requests that more retries would
  // have saved, and keeps the service from going down. Names a better tokenRatio.
  void print_budget();

  // Tries what the answer may hang on, as `simulate` does, in the disturbance that the advice is about. Call it before
  // what follows. `hold`: do all claims?
  void try_others(bool hold);
  // Says what came of it.
  void print_others() const;

  // What there is to say where no run is down: when the service is back at the latest, and how many requests
  // succeed in errors. In a freeze none do, with any policy.
  void print_nothing_to_change() const;

  // Whether the service would not be down if it did something else.
  void print_service_changes() const;

  // The least change to a policy with which the service is not down in any of some runs, where it is not so
  // without retries either. The policy has a format.
  void print_change_to_try() const;

  // Adds to the price what these settings cost in a short freeze, if that is clear.
  void add_price_in_short_freeze(const NamedOptions& settings, std::string& price) const;
  // The command with which `simulate` makes the runs of the disturbance that the advice is about.
  void print_command() const;

 private:
  ScenarioOptions scenario(const NamedOptions& settings, std::size_t disturbance) const;
  // Runs of the policy with other settings. Empty if the study was interrupted.
  Runs run_with(const NamedOptions& settings, std::size_t disturbance, std::size_t runs) const;
  std::size_t worst() const;
  // Of the policy with other settings, whose runs in that disturbance came to `result`.
  AnswerTrials trials_of(const NamedOptions& settings, const CellResult& result) const;
  // Of the attempts in a disturbance.
  double error_share(std::size_t disturbance) const;
  std::optional<std::size_t> throttled_errors(const std::vector<double>& free) const;
  void print_token_ratio(std::size_t at, const std::vector<double>& free) const;
  void print_max_tokens(std::size_t at) const;
  void print_other_processes();

  std::string label_;
  const PolicyToRun& policy_;
  const std::vector<StudyDisturbance>& disturbances_;
  std::vector<const Runs*> runs_;
  const Study& study_;
  const StudyOptions& options_;
  const NamedOptions& given_;
  const std::string& words_;
  std::size_t worst_;  // the disturbance that the advice is about
  std::vector<Expectation> holding_{};
  std::optional<AnswerTrials> trials_{};
  bool processes_tried_ = false;
  bool processes_decide_ = false;  // is the service down with more or fewer?
  bool budget_costs_ = false;      // does it fail requests that retries would have saved?
};

}  // namespace retrystorm
