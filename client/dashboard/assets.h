// The page's files, put into the program when it is built.
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
