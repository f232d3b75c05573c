// The page's files, compiled into the program.
#pragma once

#include <span>
#include <string_view>

namespace retrystorm {

struct Asset {
  std::string_view name;  // of the file
  std::string_view content;
};

std::span<const Asset> assets();

}  // namespace retrystorm
