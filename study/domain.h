// The values of an option that are worth trying.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/base/option_list.h"

namespace retrystorm {

// True for a number, a count or a duration.
bool is_measured(const Option& option);

// The number that this text is for a measured option, of a duration the seconds. Throws std::invalid_argument.
double measured(const Option& option, std::string_view text);

// The values that people try, in ascending order and as the option's `set` reads them. They include
// `default_text`, and 0 and "none" if these have a special meaning. Empty if the option is not
// measured.
std::vector<std::string> domain(const Option& option, const std::string& default_text);

}  // namespace retrystorm
