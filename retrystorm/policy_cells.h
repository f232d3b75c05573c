// A policy in a disturbance: its scenario, and what its runs come to.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "retrystorm/disturbances.h"
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

// The scenario of a policy in a disturbance, with these settings in place of its own. `given`: options that hold for all.
ScenarioOptions scenario_with(const PolicyToRun& policy, const NamedOptions& settings,
                              const StudyDisturbance& disturbance, const StudyOptions& options,
                              const NamedOptions& given);

// With a comma before it, if it is not the first one.
void add_to_list(std::string& list, const std::string& text);

using Runs = std::vector<RunResult>;

// The runs that count against a policy: those that are down, or down only with the change.
struct Hits {
  std::size_t down = 0;
  std::size_t open = 0;  // neither down nor back at the end, and may still be either

  std::size_t undecided = 0;  // of these, those that no more time makes either

  std::size_t all() const { return down + open; }
};

// `before`: the runs of the policy before a change, with the same seeds. Null: without a change.
Hits hits_of(const Runs& now, const Runs* before = nullptr);
std::size_t down_runs(const Runs& runs);

// The success of the requests that begin in a disturbance. That of the whole run would depend on how long
// one observes. Errors last for the whole run.
double success_in(const StudyDisturbance& disturbance, const CellResult& result);

// Runs of what is no cell of a study have so many seeds.
inline constexpr std::size_t kBesideRuns = 20;

}  // namespace retrystorm
