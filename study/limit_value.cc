#include "study/limit_value.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include "model/base/duration.h"
#include "model/base/text.h"
#include "study/statistics.h"
#include "words/words.h"

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
    refuse(option.name + " has no usual range: write " + option.name + "=FROM:TO");
  }
  return {values.front(), values.back()};
}

// "holds up to 9s, broken from 9.1s to 12s, holds from 17s on"
std::string in_words(const std::vector<Span>& spans) {
  std::string text;
  for (const Span& each : spans) {
    const bool first = &each == &spans.front(), last = &each == &spans.back();
    text += (first ? "" : ", ") + std::string(to_string(each.finding)) +
            (first                  ? " up to " + each.to
             : last                 ? " from " + each.from + " on"
             : each.from == each.to ? " at " + each.from
                                    : " from " + each.from + " to " + each.to);
  }
  return text;
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
    refuse("there is no option " + in_quotes(name) +
           (meant.empty() ? "" : ": did you mean " + std::string(meant) + '?'));
  }
  if (name == "retry-budget") {
    refuse(
        "retry-budget is a kind of budget: search its amount, budget-deposit (with "
        "--retry-budget=sre), budget-share (envoy) or budget-tokens (grpc)");
  }
  if (option->name == "seed" || option->name == "observe") {
    refuse(option->name + " is no setting of the clients or the service: no value of it suffices");
  }
  if (!is_measured(*option)) refuse(name + " is not a number, a count or a duration");
  std::pair<double, double> range;
  if (equals == std::string::npos) {
    range = usual_range(*option);
    if (option->name == "rate" && capacity > range.first) {
      range.second = std::min(range.second, measured(*option, print_value(option->kind, capacity)));
    }
  } else {
    const auto parts = split(std::string_view(text).substr(equals + 1), ':');
    if (parts.size() != 2) refuse(in_quotes(text) + " is not NAME=FROM:TO");
    range = {measured(*option, parts[0]), measured(*option, parts[1])};
  }
  const auto [from, to] = range;
  if (!(from > 0 && to > from)) {
    refuse("the range of " + name + " must be above 0 and not be empty");
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
    scale.numbers.push_back(value);
  }
  return scale;
}

Finding TriedValue::finding() const {
  for (const Finding worse : {Finding::kBroken, Finding::kUndecided}) {
    const auto found = std::ranges::find(judgements, worse, &Judgement::finding);
    if (found != judgements.end()) return worse;
  }
  return Finding::kHolds;
}

std::optional<LimitValue> find_limit(
    const ValueScale& scale, bool least,
    const std::function<std::optional<TriedValue>(const std::string& value)>& judged,
    SearchWay way) {
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
  if (way == SearchWay::kRising) {
    for (std::size_t step = 0; holds(step) != least && step < last && !stopped;) {
      const double twice = 2 * scale.numbers[step];
      while (step < last && scale.numbers[step] < twice) ++step;
    }
  } else {
    holds(easy);
    holds(hard);
  }
  if (!stopped) narrow();
  if (scale.in_force && way != SearchWay::kRising) try_one(*scale.in_force);
  // Before it says that there is no such value: the claims may hold for some in the middle.
  const bool try_further = way == SearchWay::kFurther;
  const bool all_broken =
      way != SearchWay::kRising && std::all_of(tried.begin(), tried.end(), [](const auto& each) {
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

RunAnswer answer_of(const LimitValue& limit, const LimitQuestion& question) {
  std::string claims;
  for (const Expectation& each : question.claims) {
    claims += (claims.empty() ? "" : words_of("and")) + each.text;
  }
  const bool is_time = question.option.kind == Option::Kind::kDuration;
  const auto text_of = [is_time](const std::optional<TriedValue>& each) {
    if (!each) return std::string();
    return is_time && each->value != kNoneWord ? time_words(parse_duration(each->value))
                                               : each->value;
  };
  const bool least = question.least;
  const std::vector<StatementValue> values{
      {"option", question.option.name},
      {"kind", words_of(least ? "least" : "greatest")},
      {"claims", claims},
      {"value", text_of(limit.found)},
      {"beside", text_of(limit.beside)},
      {"finding", limit.beside ? std::string(to_string(limit.beside->finding())) : ""},
      {"spans", in_words(limit.spans)},
      {"other", (least ? "--most=" : "--least=") + question.scale}};
  const bool broken = limit.beside && limit.beside->finding() == Finding::kBroken;
  if (!limit.found) {
    // Do they hold at the other end of the scale than that where the search begins?
    const Span& other = least ? limit.spans.front() : limit.spans.back();
    if (other.finding == Finding::kHolds) return {Tone::kDoubt, {"search-turned", values}};
    return {broken ? Tone::kBad : Tone::kDoubt,
            {broken ? "search-none" : "search-undecided", values}};
  }
  if (!limit.against.empty()) return {Tone::kDoubt, {"search-several", values}};
  return {!limit.beside || broken ? Tone::kGood : Tone::kDoubt,
          {limit.beside ? "search-found" : "search-found-at-end", values}};
}

Json limit_json(const LimitValue& limit, const LimitQuestion& question, const Json& more) {
  const auto value_of = [](const std::optional<TriedValue>& tried) {
    return tried ? Json(tried->value) : Json(nullptr);
  };
  auto against = Json::array(), spans = Json::array();
  for (const TriedValue& each : limit.against) against.push_back(each.value);
  for (const Span& each : limit.spans) {
    spans.push_back({{"finding", to_string(each.finding)}, {"from", each.from}, {"to", each.to}});
  }
  Json line{{"type", "limit_value"},
            {"option", underscored(question.option.name)},
            {"kind", question.least ? "least" : "most"},
            {"value", value_of(limit.found)},
            {"beside", value_of(limit.beside)}};
  line.update(more);
  line["against"] = against;
  line["spans"] = spans;
  line["values"] = limit.values;
  line["runs"] = limit.runs;
  return line;
}

}  // namespace retrystorm
