#include "model/retry/strategies.h"

#include <algorithm>

#include "model/retry/strategy_files.h"

namespace retrystorm {
namespace {

// The rest of the line that begins with `label`, in the comments at the head of the file.
std::string_view labelled(std::string_view text, std::string_view label) {
  while (text.starts_with('#')) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(label)) return line.substr(label.size());
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

}  // namespace

const std::vector<NamedStrategy>& named_strategies() {
  static const std::vector<NamedStrategy> strategies = [] {
    std::vector<NamedStrategy> result;
    for (const StrategyFile& file : strategy_files()) {
      result.push_back({.name = file.name.substr(0, file.name.rfind('.')),
                        .summary = labelled(file.content, "# "),
                        .source = labelled(file.content, "# Source: "),
                        .date = labelled(file.content, "# Date: "),
                        .connections = labelled(file.content, "# Connections: "),
                        .settings = file.content});
    }
    // The order of the files differs: aws-legacy-dynamodb.ini comes before aws-legacy.ini.
    std::sort(result.begin(), result.end(),
              [](const NamedStrategy& a, const NamedStrategy& b) { return a.name < b.name; });
    return result;
  }();
  return strategies;
}

const NamedStrategy* find_strategy(std::string_view name) {
  for (const NamedStrategy& each : named_strategies()) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

}  // namespace retrystorm
