// What there is to say of a policy once it has run in each disturbance: what was not put to the test, what its
// retry budget does, and which change of it, or of the service, helps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "retrystorm/policy_cells.h"

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

  // What there is to say where no run is down: the outage after which it takes longest to be back, and the
  // errors of which the fewest requests succeed. In a freeze none do, with any policy. The backlog of a
  // server is a setting that few people know, so others are tried.
  void print_weakest();

  // Whether the service would not be down if it did something else.
  void print_service_changes() const;

  // The least change to a policy with which the service is not down in any of some runs, where it is not so
  // without retries either. The policy has a format.
  void print_change_to_try() const;

  // The command with which `simulate` makes the runs of the disturbance that the others were about, or in which the
  // most runs are down.
  void print_command() const;

 private:
  ScenarioOptions scenario(const NamedOptions& settings, std::size_t disturbance) const;
  // Runs of the policy with other settings. Empty if the study was interrupted.
  Runs run_with(const NamedOptions& settings, std::size_t disturbance, std::size_t runs) const;
  // Runs with another backlog.
  struct OtherBacklog {
    std::size_t backlog = 0, runs = 0;
    std::string text;
  };
  std::optional<OtherBacklog> other_backlog(const NamedOptions& settings,
                                            std::size_t disturbance) const;
  void print_token_ratio(const std::vector<double>& free) const;
  void print_other_processes();

  std::string label_;
  const PolicyToRun& policy_;
  const std::vector<StudyDisturbance>& disturbances_;
  std::vector<const Runs*> runs_;
  const Study& study_;
  const StudyOptions& options_;
  const NamedOptions& given_;
  const std::string& words_;
  std::optional<std::size_t> weakest_{};         // where it takes longest to be back
  std::optional<OtherBacklog> other_backlog_{};  // there
  bool processes_decide_ = false;                // is the service down with more or fewer?
  bool budget_costs_ = false;  // does it fail requests that retries would have saved?
};

}  // namespace retrystorm
