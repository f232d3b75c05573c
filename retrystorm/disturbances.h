// The disturbances in which studies put all policies.
#pragma once

#include <string>
#include <vector>

#include "model/base/duration.h"
#include "simulator/scenario_options.h"
#include "study/named_options.h"

namespace retrystorm {

// The options that make a disturbance.
inline const std::vector<std::string> kSetByDisturbances{"outage", "outage-for"};

struct StudyDisturbance {
  std::string title;
  bool outage;  // is there an outage, so that there is a verdict?
  NamedOptions options{};
  bool brief =
      false;  // are retries meant to save its requests? Only then their failures are a cost
};

inline const std::vector<StudyDisturbance>& disturbances() {
  static const std::vector<StudyDisturbance> all{
      {"frozen 1 s", true, {{"outage-for", "1s"}}, true},
      {"frozen 10 s", true, {{"outage-for", "10s"}}},
      {"frozen 60 s", true, {{"outage-for", "60s"}}},
      {"errors 10 %", false, {{"outage-for", "0s"}, {"error-share", "0.1"}}, true},
      {"errors 50 %", false, {{"outage-for", "0s"}, {"error-share", "0.5"}}}};
  return all;
}

// These disturbances with the outage among the options, which is taken out of them, in place of the freezes. Throws
// std::invalid_argument if that is none.
std::vector<StudyDisturbance> with_own_outage(NamedOptions& given);

// How long a run is to go on after an outage so that it decides: its --observe, or twice as long as the queue of
// the outage takes to drain, if that is longer. At most 5 minutes, so that a storm does not cost more.
Duration until_drained(const ScenarioOptions& scenario);

}  // namespace retrystorm
