// The files of strategies/ as the program holds them.
#pragma once

#include <span>
#include <string_view>

namespace retrystorm {

struct StrategyFile {
  std::string_view name;  // of the file
  std::string_view content;
};

// In the order of the files' names. Written when the program is built (cmake/embed.cmake).
std::span<const StrategyFile> strategy_files();

}  // namespace retrystorm
