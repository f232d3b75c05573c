#include "study/limit_value.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>

#include "model/base/duration.h"
#include "model/base/text.h"
#include "study/bisection.h"
#include "study/domain.h"

namespace retrystorm {
namespace {

constexpr std::size_t kSteps = 256;

// The value with four digits, in the form that the option's `set` reads.
std::string print_value(Option::Kind kind, double value) {
  if (kind == Option::Kind::kCount) return std::to_string(std::llround(value));
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.3e", value);
  const double rounded = parse_number(digits.data(), 0, 1e300);
  if (kind == Option::Kind::kNumber) return plain_number(print_number(rounded));
  return format_duration(scale(Duration(1), std::round(rounded * 1e9)));
}

double read_value(const Option& option, std::string_view text) {
  if (option.kind == Option::Kind::kDuration) return to_seconds(parse_duration(text));
  return parse_number(plain_number(text), 0, 1e300);
}

// The first and the last value that people try.
std::pair<double, double> usual_range(const Option& option) {
  std::vector<double> values;
  for (const std::string& text : domain(option, option.get())) {
    if (text == kNoneWord) continue;
    const double value = read_value(option, text);
    if (value > 0) values.push_back(value);
  }
  if (values.size() < 2) {
    throw std::invalid_argument(option.name + " has no usual range: write " + option.name +
                                "=FROM:TO");
  }
  return {values.front(), values.back()};
}

}  // namespace

ValueScale parse_scale(const OptionList& options, const std::string& text) {
  const std::size_t equals = text.find('=');
  std::string name = text.substr(0, equals);
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  const Option* option = options.find(name);
  std::vector<std::string_view> known;
  for (const Option& each : options.all()) {
    if (is_measured(each)) known.push_back(each.name);
  }
  if (option == nullptr) {
    const auto meant = nearest(name, known);
    throw std::invalid_argument(
        "there is no option " + in_quotes(name) +
        (meant.empty() ? "" : ": did you mean " + std::string(meant) + '?'));
  }
  if (name == "retry-budget") {
    throw std::invalid_argument(
        "retry-budget is a kind of budget: search its amount, budget-deposit (with "
        "--retry-budget=sre), budget-share (envoy) or budget-tokens (grpc)");
  }
  if (!is_measured(*option)) {
    throw std::invalid_argument(name + " is not a number, a count or a duration");
  }
  std::pair<double, double> range;
  if (equals == std::string::npos) {
    range = usual_range(*option);
  } else {
    const auto parts = split(std::string_view(text).substr(equals + 1), ':');
    if (parts.size() != 2) throw std::invalid_argument(in_quotes(text) + " is not NAME=FROM:TO");
    range = {read_value(*option, parts[0]), read_value(*option, parts[1])};
  }
  const auto [from, to] = range;
  if (!(from > 0 && to > from)) {
    throw std::invalid_argument("the range of " + name + " must be above 0 and not be empty");
  }
  const bool whole = option->kind == Option::Kind::kCount && to - from <= kSteps;
  std::map<double, std::string> values;
  for (std::size_t i = 0; i <= kSteps; ++i) {
    const double share = static_cast<double>(i) / kSteps;
    const double value =
        whole ? std::min(from + static_cast<double>(i), to) : from * std::pow(to / from, share);
    const std::string printed = print_value(option->kind, value);
    values.emplace(read_value(*option, printed), printed);
  }
  ValueScale scale{.name = option->name, .values = {}};
  for (auto& [value, printed] : values) scale.values.push_back(std::move(printed));
  return scale;
}

Finding TriedValue::finding() const {
  const auto any = [this](Finding finding) {
    return std::any_of(judgements.begin(), judgements.end(),
                       [finding](const Judgement& each) { return each.finding == finding; });
  };
  return any(Finding::kBroken)      ? Finding::kBroken
         : any(Finding::kUndecided) ? Finding::kUndecided
                                    : Finding::kHolds;
}

std::optional<LimitValue> find_limit(
    const ValueScale& scale, bool least,
    const std::function<std::optional<TriedValue>(const std::string& value)>& judged,
    bool try_further) {
  LimitValue result;
  std::map<std::size_t, TriedValue> tried;
  bool stopped = false;
  const auto holds = [&](std::size_t step) {
    if (stopped) return false;
    const auto one = judged(scale.values[step]);
    stopped = !one;
    if (!one) return false;
    ++result.values;
    result.runs += one->runs;
    tried.emplace(step, *one);
    return one->finding() == Finding::kHolds;
  };
  const std::size_t last = scale.values.size() - 1;
  const std::size_t easy = least ? last : 0, hard = least ? 0 : last;
  std::optional<std::size_t> found;
  if (!holds(easy)) {
    if (stopped) return std::nullopt;
    result.beside = tried.at(easy);
  } else if (holds(hard)) {
    found = hard;
  } else {
    const Bracket bracket = bisect(easy, hard, holds, [&stopped] { return stopped; });
    if (stopped) return std::nullopt;
    found = bracket.good;
    result.beside = tried.at(bracket.bad);
  }
  if (found) result.found = tried.at(*found);
  if (!try_further) return result;
  constexpr std::size_t kParts = 8;
  const auto should_hold = [&](std::size_t step) {
    return found && (least ? step >= *found : step <= *found);
  };
  for (std::size_t part = 1; part < kParts; ++part) {
    const std::size_t step = part * last / kParts;
    if (tried.contains(step)) continue;
    const bool held = holds(step);
    if (stopped) return std::nullopt;
    ++result.further;
    if (held != should_hold(step)) result.against.push_back(tried.at(step));
  }
  return result;
}

}  // namespace retrystorm
