// The least or greatest value of an option for which claims hold: `--least` and `--most`.
//
// A bisection searches a scale of 257 values with equal ratios (or all whole numbers, if there are
// fewer). So the answer is right only if the claims hold for all values on one side of it. Where that is
// not so, as with the length of an outage, more values can be tried. Each value is
// judged as by `judge_runs`. If the claims are not decided for a value, it counts as one for which they
// do not hold. So the answer is the limit of the values for which they are known to hold.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/base/option_list.h"
#include "study/judged_runs.h"
#include "study/named_options.h"

namespace retrystorm {

// The option and the values to search.
struct ValueScale {
  std::string name;                 // of the option
  std::vector<std::string> values;  // from the least to the greatest
};

// Reads NAME or NAME=FROM:TO, for a number, a count or a duration of the list. Without a range: the
// values that people try (see domain.h), without 0 and "none". Throws std::invalid_argument with a
// readable message.
ValueScale parse_scale(const OptionList& options, const std::string& text);

// A value that was tried.
struct TriedValue {
  std::string value;
  std::vector<Judgement> judgements;
  std::size_t runs = 0;

  Finding finding() const;  // of all claims together
};

struct LimitValue {
  std::optional<TriedValue> found;   // nothing: the claims hold for no value of the scale
  std::optional<TriedValue> beside;  // the next value, for which they do not hold, if there is one
  // Of the further values that were tried, those on the other side of the answer than they should be.
  std::vector<TriedValue> against{};
  std::size_t further = 0;  // how many they were
  std::size_t values = 0;   // how many were tried in all
  std::size_t runs = 0;
};

// Finds the least value, or the greatest. `judged` judges a value. It returns nothing when it was
// stopped, and then there is no result. `try_further`: tries some more values on both sides of the
// answer.
std::optional<LimitValue> find_limit(
    const ValueScale& scale, bool least,
    const std::function<std::optional<TriedValue>(const std::string& value)>& judged,
    bool try_further = false);

}  // namespace retrystorm
