// Runs policies on a service, and judges them by a plan that is fixed beforehand.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "retrystorm/study_command.h"

namespace retrystorm {

struct PolicyToRun {
  std::string name;  // such as "file.yaml:12"
  NamedOptions settings;
  // Does its program send all requests of a process over one connection? Then it runs so, unless
  // --connections is given.
  bool multiplexed = false;
  std::string
      start{};  // the options with which `recommend` starts from it; empty if there are none
};

// Two versions of a policy: what counts is what the change does. Without `before`, the policy alone.
struct PolicyCase {
  PolicyToRun policy;
  std::optional<PolicyToRun> before{};
};

struct PolicyStudy {
  std::vector<PolicyCase> cases;  // at least one
  std::vector<StudyDisturbance> disturbances;
  NamedOptions given;     // for all of them
  bool markdown = false;  // all is printed as Markdown
  // Called when all options have been checked, with the file of --json.
  std::function<void(JsonLines&)> before_runs;
  // Called below the answer, or before the runs with `markdown`.
  std::function<void()> print_findings;
};

// Puts each policy in each of the disturbances, and prints what came of it and what the answer hangs on, and for a
// policy that does not hold the command that searches a better one. A policy that breaks a claim gets no more runs.
// Where there is a policy before, both have the same seeds, and only runs that are down now and were not down before
// count as down. Returns the exit code. Throws std::invalid_argument if so few runs cannot show a claim.
int run_policies(const Invocation& invocation, const StudyOptions& options,
                 const PolicyStudy& study);

}  // namespace retrystorm
