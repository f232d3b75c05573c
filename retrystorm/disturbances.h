// The disturbances in which studies put all policies.
#pragma once

#include <string>
#include <vector>

#include "study/named_options.h"

namespace retrystorm {

// The options that a study with these disturbances sets itself.
inline const std::vector<std::string> kSetByDisturbances{"outage", "outage-for"};

struct StudyDisturbance {
  const char* title;
  bool outage;  // is there an outage, so that there is a verdict?
  NamedOptions options;
  bool brief = false;  // so that retries can save its requests
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

}  // namespace retrystorm
