#include "study/named_options.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "model/base/duration.h"
#include "model/base/text.h"
#include "model/run/workload.h"

namespace retrystorm {

std::string value_or(const NamedOptions& options, std::string_view name, const char* otherwise) {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : found->second;
}

void apply_options(const OptionList& list, const NamedOptions& options,
                   const std::function<void(const std::string& name, const char* why)>& refused) {
  const auto attempt = [&refused](const std::string& name, const auto& set) {
    try {
      set();
    } catch (const std::invalid_argument& error) {
      refused(name, error.what());
    }
  };
  for (const auto& [name, text] : options) {
    if (list.find(name) == nullptr) {
      attempt(name, [&, &name = name, &text = text] { list.set(name, text); });
    }
  }
  const auto find = [&options](const Option& option) {
    auto found = options.find(option.name);
    for (const std::string& name : option.second_names) {
      if (found == options.end()) found = options.find(name);
    }
    return found;
  };
  NamedOptions implied;
  attempt("", [&] {
    imply(
        [&](std::string_view name) {
          const Option* option = list.find(name);
          return option != nullptr && find(*option) != options.end();
        },
        [&](const std::string& target, const std::string& value) { implied[target] = value; });
  });
  for (const Option& option : list.all()) {
    const auto found = find(option);
    if (const auto value = implied.find(option.name); value != implied.end()) {
      list.set(option.name, value->second);
    }
    if (found == options.end()) continue;
    attempt(found->first, [&] {
      if (!option.same_as.empty() && options.contains(option.same_as)) {
        refuse(option.name + ": " + option.same_as + " sets the same: give only one of them");
      }
      list.set(found->first, found->second);
    });
  }
}

void apply_options(const OptionList& list, const NamedOptions& options) {
  apply_options(list, options, [](const std::string&, const char* why) -> void { refuse(why); });
}

ScenarioOptions scenario_of(const NamedOptions& options) {
  ListedScenario scenario;
  apply_options(scenario.list, options);
  return std::move(scenario.options);
}

namespace {

// Odd, so that a default in the middle is one of them, and a share has steps of 0.05.
constexpr int kStops = 21;

// Prints a value rounded to `digits` digits, as people choose values.
std::string print(const Option& option, double value, int digits) {
  const double unit = std::pow(10, std::floor(std::log10(std::max(value, 1e-12))) + 1 - digits);
  const double round = std::round(value / unit) * unit;
  if (option.kind == Option::Kind::kCount) return std::to_string(std::llround(round));
  if (option.kind == Option::Kind::kDuration) {
    // In whole nanoseconds, so that 0.29 s is 290 ms although the nearest double is not.
    const auto nanoseconds = static_cast<Duration::rep>(std::llround(round * 1e9));
    const auto coarse = static_cast<Duration::rep>(std::max(std::llround(unit * 1e9), 1LL));
    return format_duration(Duration((nanoseconds + coarse / 2) / coarse * coarse));
  }
  // Without an exponent.
  if (round >= 1 && round < 1e15 && round == std::floor(round)) {
    return std::to_string(std::llround(round));
  }
  std::string text = print_number(round);
  // Avoids 0.30000000000000004.
  if (text.size() > 6) text = print_number(std::round(round / unit) / std::round(1 / unit));
  return text;
}

struct Ends {
  double from = 0, to = 0;
  bool linear = false;
};

Ends ends_of(const Option& option, const std::string& default_text) {
  if (!option.range.from.empty()) {
    return {measured(option, option.range.from), measured(option, option.range.to)};
  }
  // A share.
  if (option.most <= 1) return {option.least, option.most, true};
  const double middle =
      default_text == kNoneWord || default_text.empty() ? 0 : measured(option, default_text);
  if (middle <= 0) return {};
  constexpr double kFactor = 20;
  return {std::max(middle / kFactor, option.least), std::min(middle * kFactor, option.most)};
}

}  // namespace

double measured(const Option& option, std::string_view text) {
  if (option.kind == Option::Kind::kDuration) return to_seconds(parse_duration(text));
  return parse_number(plain_number(text), std::numeric_limits<double>::lowest(),
                      std::numeric_limits<double>::max());
}

bool is_measured(const Option& option) {
  return option.kind == Option::Kind::kDuration || option.kind == Option::Kind::kNumber ||
         option.kind == Option::Kind::kCount;
}

std::vector<std::string> domain(const Option& option, const std::string& default_text) {
  std::vector<std::string> texts;
  if (!is_measured(option)) return texts;
  const auto [from, to, linear] = ends_of(option, default_text);
  if (!(to > from)) return texts;
  std::map<double, std::string> by_value;
  const auto add = [&, &option = option](std::string text) {
    // Rounding may have left the bounds.
    const double value = measured(option, text);
    if (value >= option.least && value <= option.most) by_value.emplace(value, std::move(text));
  };
  double first = from;
  if (from == 0 && !linear) {
    add(option.kind == Option::Kind::kDuration ? "0s" : "0");
    first = option.kind == Option::Kind::kCount ? 1 : to / 1000;
  }
  if (default_text != kNoneWord && !default_text.empty()) add(default_text);
  // A third digit if two give too few values: from 1 to 1.5 there are only six.
  for (int digits = 2; digits <= 3 && by_value.size() < kStops / 2; ++digits) {
    for (int i = 0; i < kStops; ++i) {
      const double share = static_cast<double>(i) / (kStops - 1);
      add(print(option, linear ? from + share * (to - from) : first * std::pow(to / first, share),
                digits));
    }
  }
  for (auto& [value, text] : by_value) texts.push_back(std::move(text));
  if (option.takes_none) texts.emplace_back(kNoneWord);
  return texts;
}

}  // namespace retrystorm
