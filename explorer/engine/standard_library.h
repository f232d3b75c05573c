// The parts of C++20 that Debian 12's compiler for WebAssembly (libc++ 13) lacks. Included before
// every source that it compiles. Does nothing with newer libraries.
#pragma once

#include <version>

#include "explorer/engine/shortest_number.h"

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
