// Writes a number or a share with a fixed count of digits.
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

// A share in percent: "12.5 %".
inline std::string percent(double share, int digits) {
  return fixed(100 * share, digits) + " %";
}

// The same in a narrow table: "12.5%".
inline std::string narrow_percent(double share, int digits) {
  return fixed(100 * share, digits) + '%';
}

}  // namespace retrystorm
