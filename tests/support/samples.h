// Pages of metrics as a test reads them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

namespace retrystorm::test {

// The value of each series, by its name with its labels but without the program's "retrystorm_".
inline std::map<std::string, double> samples(const std::string& page) {
  std::map<std::string, double> values;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = line.rfind(' ');
    if (!line.starts_with("retrystorm_") || blank == line.npos) continue;
    values[line.substr(11, blank - 11)] = std::stod(line.substr(blank + 1));
  }
  return values;
}

inline void expect_samples(const std::string& page, const std::map<std::string, double>& expected) {
  const auto values = samples(page);
  for (const auto& [name, value] : expected) EXPECT_EQ(values.at(name), value) << name;
}

// Whether there is a series whose name begins so.
inline bool has_series(const std::string& page, const std::string& name) {
  const auto all = samples(page);
  const auto first = all.lower_bound(name);
  return first != all.end() && first->first.starts_with(name);
}

}  // namespace retrystorm::test
