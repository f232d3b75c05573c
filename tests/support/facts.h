// Statements as a test compares them: ids and values, never words.
#pragma once

#include <string>

#include "model/base/duration.h"
#include "model/base/statement.h"
#include "model/base/text.h"

namespace retrystorm::test {

// "back-after(baseline=100, after=10s)"; shares are numbers, with three digits.
inline std::string facts(const Statement& statement) {
  struct Plain {
    std::string operator()(double number) const { return print_number(to_digits(number, 6)); }
    std::string operator()(ShareOf share) const { return print_number(to_digits(share.share, 3)); }
    std::string operator()(Duration time) const { return format_duration(time); }
    std::string operator()(const std::string& text) const { return text; }
  };
  std::string values;
  for (const StatementValue& each : statement.values) {
    values +=
        (values.empty() ? "" : ", ") + std::string(each.name) + '=' + std::visit(Plain{}, each.of);
  }
  return std::string(statement.id) + (values.empty() ? "" : '(' + values + ')');
}

// With "; " between them.
inline std::string facts(const Statements& statements) {
  std::string text;
  for (const Statement& each : statements) text += (text.empty() ? "" : "; ") + facts(each);
  return text;
}

}  // namespace retrystorm::test
