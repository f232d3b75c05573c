// The parts of C++20 that Debian 12's compiler for WebAssembly (libc++ 13) lacks. Included before
// every source that it compiles. Does nothing with newer libraries.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <version>

namespace retrystorm {

// Adds one to the last digit before the exponent.
inline void away_from_zero(char* scientific) {
  for (char* at = std::strchr(scientific, 'e'); at-- != scientific;) {
    if (*at < '0' || *at > '9') continue;
    if (*at != '9') {
      ++*at;
      return;
    }
    *at = '0';
  }
}

// Writes the fewest digits that read back to `value`, which may be infinite or NaN. Uses an
// exponent only if that is shorter, and never if `fixed`. Returns the end of the text, for which
// there must be room: 24 characters, or 327 if `fixed`.
inline char* shortest_number(char* first, char* last, double value, bool fixed) {
  const auto put = [&](const char* text) {
    const std::size_t length = std::strlen(text);
    std::memcpy(first, text, length);
    return first + length;
  };
  if (value != value) return put("nan");
  if (value - value != 0) return put(value < 0 ? "-inf" : "inf");

  // Tries one more digit until the text reads back: "-d.ddde+XX". Above a power of two, neighbours
  // are twice as far apart as below. So the next text away from 0 may read back although the
  // nearest one does not.
  char scientific[32];
  const auto reads_back = [&] { return std::strtod(scientific, nullptr) == value; };
  int digits = 1;
  while (true) {
    std::snprintf(scientific, sizeof(scientific), "%.*e", digits - 1, value);
    if (reads_back()) break;
    away_from_zero(scientific);
    if (reads_back()) break;
    ++digits;
  }
  const int exponent = std::atoi(std::strchr(scientific, 'e') + 1);

  char plain[352];
  if (digits - 1 <= exponent) {
    std::snprintf(plain, sizeof(plain), "%.0f", value);
  } else {
    char* end = plain;
    const char* from = scientific;
    if (*from == '-') *end++ = *from++;
    for (int place = exponent < 0 ? exponent : 0; place < 0; ++place) {
      *end++ = '0';
      if (place == exponent) *end++ = '.';
    }
    for (int place = exponent; *from != 'e'; ++from) {
      if (*from == '.') continue;
      *end++ = *from;
      if (place-- == 0) *end++ = '.';
    }
    *end = 0;
  }
  const bool shorter = fixed || std::strlen(plain) <= std::strlen(scientific);
  const char* const text = shorter ? plain : scientific;
  return std::strlen(text) <= static_cast<std::size_t>(last - first) ? put(text) : first;
}

}  // namespace retrystorm

#ifndef __cpp_lib_bit_cast
namespace std {
template <typename To, typename From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}
}  // namespace std
#endif

#if !defined(__cpp_lib_to_chars) && defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 140000
#include <charconv>
namespace std {
inline to_chars_result to_chars(char* first, char* last, double value) {
  return {retrystorm::shortest_number(first, last, value, false), errc()};
}
inline to_chars_result to_chars(char* first, char* last, double value, chars_format) {
  return {retrystorm::shortest_number(first, last, value, true), errc()};
}
}  // namespace std
#endif
