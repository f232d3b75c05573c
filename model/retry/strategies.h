// The strategies that have a name: settings, and where they come from.
#pragma once

#include <string_view>
#include <vector>

namespace retrystorm {

// One file of strategies/, put into the program when it is built. Its first line is a comment that
// says in one sentence what it is, the next ones name the source and its date.
struct NamedStrategy {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  std::string_view date;
  std::string_view settings;  // the whole file: lines of NAME = VALUE
};

// In the order of their names.
const std::vector<NamedStrategy>& named_strategies();

// Null when there is none of that name.
const NamedStrategy* find_strategy(std::string_view name);

}  // namespace retrystorm
