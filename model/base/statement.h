// Something that is true of settings, of a run or of many: an id and its values. The room words/ makes a sentence of it,
// at the end. Nothing reads a sentence.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/base/duration.h"

namespace retrystorm {

// A share of a whole, from 0 to 1.
struct ShareOf {
  double share = 0;
  bool operator==(const ShareOf&) const = default;
};

struct StatementValue {
  std::string_view name;                                    // of a literal
  std::variant<double, ShareOf, Duration, std::string> of;  // a count or a rate, ...
  bool operator==(const StatementValue&) const = default;
};

struct Statement {
  std::string_view id{};  // of a literal; a row of words/words.cc
  std::vector<StatementValue> values{};
  bool operator==(const Statement&) const = default;
};

using Statements = std::vector<Statement>;

// Has one of them this id?
inline bool says(const Statements& all, std::string_view id) {
  for (const Statement& each : all) {
    if (each.id == id) return true;
  }
  return false;
}

}  // namespace retrystorm
