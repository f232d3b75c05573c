// What there is to say of a policy once it has run in each disturbance: what was not put to the test, what its
// retry budget does, and which change of it, or of the service, helps.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "retrystorm/policy_cells.h"

namespace retrystorm {

class PolicyAdvice {
 public:
  // `label`: before each line, such as "file.yaml:12: ". `runs`: of the policy in each of `disturbances()`, in
  // their order; empty where there are none yet. All references must outlive the advice.
  PolicyAdvice(std::string label, const PolicyToRun& policy, std::vector<const Runs*> runs,
               const Study& study, const StudyOptions& options, const NamedOptions& given);

  // Says where nothing that failed is retried.
  void print_not_retried() const;

  // Says what a retry budget, such as gRPC's retryThrottling, does: it fails requests that more retries would
  // have saved, and keeps the service from going down. Names a better tokenRatio.
  void print_budget();

  // What there is to say where no run is down: the outage after which it takes longest to be back, and the
  // errors of which the fewest requests succeed. In a freeze none do, with any policy. The backlog of a
  // server is a setting that few people know, so others are tried.
  void print_weakest() const;

  // Whether a service that skips requests whose callers have hung up would not be down.
  void print_abandoned() const;

  // The least change to a policy with which the service is not down in any of some runs, where it is not so
  // without retries either. The policy has a format.
  void print_change_to_try() const;

 private:
  using Change = std::function<void(ScenarioOptions&)>;

  ScenarioOptions scenario(const NamedOptions& settings, std::size_t disturbance) const;
  // Runs of the policy with other settings. Empty if the study was interrupted.
  Runs run_with(const NamedOptions& settings, std::size_t disturbance, std::size_t runs) const;
  // Those of some runs in each disturbance with something else changed. Empty if it was interrupted.
  std::vector<Hits> hits_with(const Change& change) const;
  std::string other_backlog(const NamedOptions& settings, std::size_t disturbance) const;
  void print_token_ratio(const std::vector<double>& free) const;

  std::string label_;
  const PolicyToRun& policy_;
  std::vector<const Runs*> runs_;
  const Study& study_;
  const StudyOptions& options_;
  const NamedOptions& given_;
  bool budget_costs_ = false;  // does it fail requests that retries would have saved?
};

}  // namespace retrystorm
