// Scenarios from the text of settings, for tests.
#pragma once

#include <string>

#include "simulator/scenario_options.h"

namespace retrystorm {

// Lines of NAME = VALUE. Throws std::invalid_argument for a value that cannot be.
inline ScenarioOptions options_from(const std::string& settings) {
  ScenarioOptions options;
  OptionList list;
  declare_options(list, options);
  list.apply(settings);
  return options;
}

}  // namespace retrystorm
