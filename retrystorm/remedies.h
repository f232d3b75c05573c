// The remedies that are tried where none are given. Their numbers follow from the service and its clients.
#pragma once

#include <string>
#include <vector>

#include "simulator/scenario_options.h"

namespace retrystorm {

struct UsualRemedy {
  std::string title,
      actions;             // `actions`: as `--at` reads them, at times that suit the usual outage
  std::string left_out{};  // why it has no number here, or changes nothing; empty otherwise
};

// The same for all of these cases: of each number the least, so that it suits the weakest of them.
std::vector<UsualRemedy> usual_remedies(const std::vector<ScenarioOptions>& cases);

}  // namespace retrystorm
