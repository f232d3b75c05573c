// The named strategies: their settings and their sources.
#pragma once

#include <string_view>
#include <vector>

namespace retrystorm {

// One file of strategies/, embedded in the program at build time. Its first line is a comment that
// describes the strategy in one sentence. The next lines give the source, its date, and
// how its library connects.
struct NamedStrategy {
  std::string_view name;
  std::string_view summary;
  std::string_view source;
  std::string_view date;
  std::string_view connections;  // of its library: `library_way` (model/run/workload.h) reads it
  std::string_view settings;     // the whole file: lines of NAME = VALUE
};

// In the order of the names.
const std::vector<NamedStrategy>& named_strategies();

// Null if there is none of that name.
const NamedStrategy* find_strategy(std::string_view name);

}  // namespace retrystorm
