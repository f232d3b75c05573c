// A list of strategies to compare: names, "all", and files of settings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/option_list.h"
#include "study/named_options.h"

namespace retrystorm {

struct ListedStrategy {
  std::string name;                        // for a file: its path, as typed
  std::optional<NamedOptions> settings{};  // for a file, by the options' names
};

// Reads V1,V2,...: names of strategies, "all" for every named one, and paths of settings files, which
// contain a dot or a slash. Each is listed once. Throws UnreadableFile, or std::invalid_argument
// with a readable message.
std::vector<ListedStrategy> parse_strategies(const OptionList& options, std::string_view list);

// Replaces the strategy of the options with this one. Options that were set already, in any form, override
// the settings of a file.
void set_strategy(NamedOptions& options, const ListedStrategy& strategy);

}  // namespace retrystorm
