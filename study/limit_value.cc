#include "study/limit_value.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>

#include "model/base/duration.h"
#include "model/base/text.h"
#include "study/domain.h"
#include "study/statistics.h"

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

// The first and the last value that people try.
std::pair<double, double> usual_range(const Option& option) {
  std::vector<double> values;
  for (const std::string& text : domain(option, option.get())) {
    if (text == kNoneWord) continue;
    const double value = measured(option, text);
    if (value > 0) values.push_back(value);
  }
  if (values.size() < 2) {
    throw std::invalid_argument(option.name + " has no usual range: write " + option.name +
                                "=FROM:TO");
  }
  return {values.front(), values.back()};
}

}  // namespace

ValueScale parse_scale(const OptionList& options, const std::string& text, double capacity) {
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
  if (option->name == "seed" || option->name == "observe") {
    throw std::invalid_argument(
        option->name + " is no setting of the clients or the service: no value of it suffices");
  }
  if (!is_measured(*option)) {
    throw std::invalid_argument(name + " is not a number, a count or a duration");
  }
  std::pair<double, double> range;
  if (equals == std::string::npos) {
    range = usual_range(*option);
    if (option->name == "rate" && capacity > range.first) {
      range.second = std::min(range.second, measured(*option, print_value(option->kind, capacity)));
    }
  } else {
    const auto parts = split(std::string_view(text).substr(equals + 1), ':');
    if (parts.size() != 2) throw std::invalid_argument(in_quotes(text) + " is not NAME=FROM:TO");
    range = {measured(*option, parts[0]), measured(*option, parts[1])};
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
    values.emplace(measured(*option, printed), printed);
  }
  ValueScale scale{.name = option->name, .values = {}};
  const std::string own = option->get();
  std::optional<double> in_force;
  if (own != kNoneWord) in_force = measured(*option, own);
  if (in_force >= from && in_force <= to) values.emplace(*in_force, own);
  for (auto& [value, printed] : values) {
    if (value == in_force) scale.in_force = scale.values.size();
    scale.values.push_back(std::move(printed));
  }
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
  std::optional<std::size_t> good, bad;
  // Halves the distance between the first value from the easy end for which the claims do not hold and
  // the one before it.
  const auto narrow = [&] {
    good.reset();
    bad.reset();
    const auto see = [&](const std::pair<const std::size_t, TriedValue>& each) {
      if (!bad) (each.second.finding() == Finding::kHolds ? good : bad) = each.first;
    };
    least ? std::for_each(tried.rbegin(), tried.rend(), see)
          : std::for_each(tried.begin(), tried.end(), see);
    if (!good || !bad) return;
    const Bracket bracket = bisect(*good, *bad, holds, [&stopped] { return stopped; });
    good = bracket.good;
    bad = bracket.bad;
  };
  const auto try_one = [&](std::size_t step) {
    if (stopped || tried.contains(step)) return;
    holds(step);
    ++result.further;
  };
  holds(easy);
  holds(hard);
  if (!stopped) narrow();
  if (scale.in_force) try_one(*scale.in_force);
  // Before it says that there is no such value: the claims may hold for some in the middle.
  const bool all_broken = std::all_of(tried.begin(), tried.end(), [](const auto& each) {
    return each.second.finding() == Finding::kBroken;
  });
  constexpr std::size_t kParts = 8;
  const std::size_t stride = try_further ? 1 : 2;
  for (std::size_t part = stride; (try_further || all_broken) && part < kParts; part += stride) {
    try_one(part * last / kParts);
    if (!good) continue;
    const std::size_t low = std::min(easy, *good), high = std::max(easy, *good);
    try_one(low + part * (high - low) / kParts);
  }
  if (!stopped) narrow();
  if (stopped) return std::nullopt;
  if (good) result.found = tried.at(*good);
  if (bad) result.beside = tried.at(*bad);
  for (const auto& [step, one] : tried) {
    const Finding finding = one.finding();
    if (bad && finding == Finding::kHolds && (least ? step < *bad : step > *bad)) {
      result.against.push_back(one);
    }
    if (result.spans.empty() || result.spans.back().finding != finding) {
      result.spans.push_back({.finding = finding, .from = one.value, .to = {}});
    }
    result.spans.back().to = one.value;
  }
  return result;
}

}  // namespace retrystorm
