// A part's settings from lines of `name = value`, as a strategy's file has them.
#pragma once

#include <string_view>

#include "model/base/option_list.h"

namespace retrystorm::test {

template <typename Settings>
Settings settings_of(std::string_view text) {
  Settings settings;
  OptionList options;
  declare_options(options, settings);
  options.apply(text);
  check(settings);
  return settings;
}

}  // namespace retrystorm::test
