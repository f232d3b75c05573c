// The named strategies, and the title of settings.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/retry/retry_settings.h"

namespace retrystorm {

struct StrategyFile {
  std::string_view name;  // of the file
  std::string_view content;
};

// In the order of the file names. Generated at build time (cmake/embed.cmake).
std::span<const StrategyFile> strategy_files();

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

// "fixed retries" if the settings are exactly those of the named strategy. Otherwise the settings in
// force: "exponential from 100ms x 2, full jitter, 5 retries, budget 10 %".
std::string retries_title(const RetrySettings& settings);
// The settings in force, also where they are those of a named strategy.
std::string retries_in_words(const RetrySettings& settings);

}  // namespace retrystorm
