// Options from the text of settings, for tests.
#pragma once

#include <string>

#include "simulator/scenario_options.h"

namespace retrystorm {

// Lines of NAME = VALUE. Throws std::invalid_argument for a value that cannot be.
template <typename Options = ScenarioOptions>
Options options_from(const std::string& settings) {
  Options options;
  OptionList list;
  declare_options(list, options);
  list.apply(settings);
  return options;
}

// The reasons why options have no effect, a line each.
inline std::string text_of(const UnusedOptions& unused) {
  std::string all;
  for (const auto& [name, why] : unused) all += why + '\n';
  return all;
}

}  // namespace retrystorm
