// Numbers as `std::to_chars` writes them, for a standard library that has no such function.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace retrystorm {

// Writes the fewest digits that read back to `value` (finite, or infinity or NaN), with an exponent
// only where that is shorter, or never where it is to be `fixed`. Returns the end of what it wrote,
// which must fit (24 characters, or 327 where it is fixed).
inline char* shortest_number(char* first, char* last, double value, bool fixed) {
  const auto put = [&](const char* text) {
    const std::size_t length = std::strlen(text);
    std::memcpy(first, text, length);
    return first + length;
  };
  if (value != value) return put("nan");
  if (value - value != 0) return put(value < 0 ? "-inf" : "inf");

  // The digits, by trying one more until they read back: "-d.ddde+XX".
  char scientific[32];
  int digits = 1;
  do {
    std::snprintf(scientific, sizeof(scientific), "%.*e", digits - 1, value);
  } while (std::strtod(scientific, nullptr) != value && ++digits <= 17);
  const int exponent = std::atoi(std::strchr(scientific, 'e') + 1);
  const int after_point = digits - 1 - exponent;
  char plain[352];
  std::snprintf(plain, sizeof(plain), "%.*f", after_point > 0 ? after_point : 0, value);
  const bool shorter = fixed || std::strlen(plain) <= std::strlen(scientific);
  const char* const text = shorter ? plain : scientific;
  return std::strlen(text) <= static_cast<std::size_t>(last - first) ? put(text) : first;
}

}  // namespace retrystorm
