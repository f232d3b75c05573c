// What people read: the words of every statement and every number, each in one place. Nothing else in the programs
// writes sentences, and nothing reads them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/duration.h"
#include "model/base/statement.h"

namespace retrystorm {

// A clause: lower case at its begin, no full stop.
std::string words_of(const Statement& statement);
// Of a statement without values.
std::string words_of(std::string_view id);
// The clauses, with "; " between them.
std::string words_of(const Statements& statements);

// What people call a figure of the JSON: "attempts per request" for `amplification`.
std::string figure_words(std::string name);

// Numbers of two or three digits: "1,247", "99.5", "0.12"; "unlimited".
std::string number_words(double number);
// "99.6 %"; near the whole two digits of what is missing: "99.97 %", "99.9991 %". "0 %" and "100 %" are exact.
std::string share_words(double share);
// "350 ms", "5 s", "1 min 20 s", "2 h 5 min"
std::string time_words(Duration time);
// A value that is a number of things.
inline StatementValue counted(std::string_view name, std::size_t number) {
  return {name, static_cast<double>(number)};
}
// "a, b, c", or with something else between them.
std::string list_words(const std::vector<std::string>& words, std::string_view between = ", ");
// "1 run", "100 runs"
std::string count_words(double count, const std::string& what);

}  // namespace retrystorm
