// The files of strategies/, embedded in the program.
#pragma once

#include <span>
#include <string_view>

namespace retrystorm {

struct StrategyFile {
  std::string_view name;  // of the file
  std::string_view content;
};

// In the order of the file names. Generated at build time (cmake/embed.cmake).
std::span<const StrategyFile> strategy_files();

}  // namespace retrystorm
