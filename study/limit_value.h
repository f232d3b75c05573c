// The least or greatest value of an option for which claims hold: `--least` and `--most`.
//
// A bisection searches a scale of 257 values with equal ratios (or all whole numbers, if there are
// fewer). Then the value in force is tried, if it lies on the scale, and on request more on both sides of
// the answer: an outage that is longer is not always worse. If the claims do not hold for one of these,
// the answer moves before it. So they hold for all values that were tried on one side of the answer. Each
// value is judged as by `judge_runs`. If the claims are not decided for a value, it counts as one for
// which they do not hold.
//
// A real service is not to be hurt more than needed: there the values rise from the least one, each at least twice the one
// before, until the answer changes.
//
// Both ends of the scale are tried. If the claims are broken at both and with the value in force, so are three
// values between the ends.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "common/output/answer.h"
#include "common/output/json_text.h"
#include "model/base/option_list.h"
#include "study/judged_runs.h"
#include "study/named_options.h"

namespace retrystorm {

// The option and the values to search.
struct ValueScale {
  std::string name;                       // of the option
  std::vector<std::string> values;        // from the least to the greatest
  std::vector<double> numbers{};          // the same
  std::optional<std::size_t> in_force{};  // which of them the option has, if any
};

// Reads NAME or NAME=FROM:TO, for a number, a count or a duration of the list. Without a range: the
// values that people try (see `domain`), without 0 and "none". The option's own value is among them if
// it lies in the range. A range of rates that is not given ends at `capacity`, what the service can do a second: more
// never holds, and its runs take longest. Throws std::invalid_argument with a readable message.
ValueScale parse_scale(const OptionList& options, const std::string& text,
                       double capacity = std::numeric_limits<double>::infinity());

// A value that was tried.
struct TriedValue {
  std::string value;
  std::vector<Judgement> judgements;
  std::size_t runs = 0;

  Finding finding() const;  // of all claims together
};

// Neighbours among the values that were tried, with the same finding.
struct Span {
  Finding finding = Finding::kUndecided;
  std::string from, to;
};

struct LimitValue {
  std::optional<TriedValue> found;   // nothing: the claims do not hold at the easy end of the scale
  std::optional<TriedValue> beside;  // the next value, for which they do not hold, if there is one
  // Beyond `beside`, values for which they hold again.
  std::vector<TriedValue> against{};
  std::vector<Span> spans{};  // of all that were tried, from the least to the greatest
  std::size_t further = 0;    // how many were tried beside the bisection
  std::size_t values = 0;     // how many were tried in all
  std::size_t runs = 0;
};

enum class SearchWay {
  kFromBothEnds,
  kFurther,  // the same, and tries more values than that in force on both sides of the answer, most of them on the side
             // on which the claims should hold
  kRising,
};

// Finds the least value, or the greatest. `judged` judges a value. It returns nothing when it was
// stopped, and then there is no result.
std::optional<LimitValue> find_limit(
    const ValueScale& scale, bool least,
    const std::function<std::optional<TriedValue>(const std::string& value)>& judged,
    SearchWay way = SearchWay::kFromBothEnds);

// What a search asks.
struct LimitQuestion {
  const Option& option;
  const std::string& scale;  // as `parse_scale` reads it
  bool least = false;
  const std::vector<Expectation>& claims;
};
RunAnswer answer_of(const LimitValue& limit, const LimitQuestion& question);
// Its line of JSON. `more`: keys of the program.
Json limit_json(const LimitValue& limit, const LimitQuestion& question, const Json& more);

}  // namespace retrystorm
