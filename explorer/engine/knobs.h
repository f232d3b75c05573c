// The options of the experiment as the explorer's page shows them: from their registrations.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/base/option_list.h"

namespace retrystorm {

// The values that a slider has for this option, as its `set` reads them, from the least to the
// greatest; 0 and "none" are among them where they mean something of their own, and `usual`, what
// it is by itself. Empty where it is no number, count or duration.
std::vector<std::string> stops(const Option& option, const std::string& usual);

// {"options": [...], "strategies": [...]}: all that the page knows of them.
nlohmann::ordered_json catalogue();

}  // namespace retrystorm
