// Options of runs as text with numbers in it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "study/named_options.h"

namespace retrystorm::test {

inline std::string text(double number) {
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.6g", number);
  return digits.data();
}

inline std::string text(int count) {
  return std::to_string(count);
}

inline std::string text(const std::string& same) {
  return same;
}

inline std::string in_seconds(double time) {
  return text(time) + 's';
}

// "rate=?, timeout=1000s": each ? is one of the values.
template <typename... Values>
NamedOptions given(const std::string& options, const Values&... values) {
  const std::vector<std::string> texts{text(values)...};
  auto next = texts.begin();
  NamedOptions all;
  std::size_t begin = 0;
  while (begin < options.size()) {
    const std::size_t equals = options.find('=', begin),
                      end = std::min(options.find(", ", equals), options.size());
    std::string value;
    for (const char each : options.substr(equals + 1, end - equals - 1)) {
      value += each == '?' ? *next++ : std::string(1, each);
    }
    all.emplace(options.substr(begin, equals - begin), value);
    begin = end + 2;
  }
  return all;
}

// If both have an option, `more` counts.
inline NamedOptions with(NamedOptions options, const NamedOptions& more) {
  for (const auto& [name, value] : more) options.insert_or_assign(name, value);
  return options;
}

}  // namespace retrystorm::test
