// Writes a number with a fixed count of digits.
#pragma once

#include <array>
#include <cstdio>
#include <string>

namespace retrystorm {

// The number with this many digits after the decimal point.
inline std::string fixed(double value, int digits) {
  std::array<char, 400> text{};  // the greatest number has 309 digits before its decimal point
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

}  // namespace retrystorm
