#include "explorer/engine/knobs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "model/retry/strategies.h"
#include "model/service/conditions.h"
#include "simulator/scenario_options.h"

namespace retrystorm {
namespace {

using Json = nlohmann::ordered_json;

// Odd, so that a default in the middle is met, and that a share goes by 0.05.
constexpr int kStops = 21;

bool is_measured(const Option& option) {
  return option.kind == Option::Kind::kDuration || option.kind == Option::Kind::kNumber ||
         option.kind == Option::Kind::kCount;
}

double read(const Option& option, const std::string& text) {
  if (option.kind == Option::Kind::kDuration) return to_seconds(parse_duration(text));
  return parse_number(text, std::numeric_limits<double>::lowest(),
                      std::numeric_limits<double>::max());
}

// A value of two digits, as people choose them, or of so many.
std::string print(const Option& option, double value, int digits) {
  const double unit = std::pow(10, std::floor(std::log10(std::max(value, 1e-12))) + 1 - digits);
  const double round = std::round(value / unit) * unit;
  if (option.kind == Option::Kind::kCount) return std::to_string(std::llround(round));
  if (option.kind == Option::Kind::kDuration) {
    // 0.29 s is 290 ms, whatever its nearest double is.
    const auto nanoseconds = static_cast<Duration::rep>(std::llround(round * 1e9));
    const auto coarse = static_cast<Duration::rep>(std::max(std::llround(unit * 1e9), 1LL));
    return format_duration(Duration((nanoseconds + coarse / 2) / coarse * coarse));
  }
  // Without an exponent.
  if (round >= 1 && round < 1e15 && round == std::floor(round)) {
    return std::to_string(std::llround(round));
  }
  std::string text = print_number(round);
  // 0.30000000000000004
  if (text.size() > 6) text = print_number(std::round(round / unit) / std::round(1 / unit));
  return text;
}

struct Ends {
  double from = 0, to = 0;
  bool linear = false;
};

Ends ends_of(const Option& option, const std::string& usual) {
  if (!option.span.from.empty()) {
    return {read(option, option.span.from), read(option, option.span.to)};
  }
  // A share.
  if (option.most <= 1) return {option.least, option.most, true};
  const double middle = usual == kNoneWord || usual.empty() ? 0 : read(option, usual);
  if (middle <= 0) return {};
  constexpr double kFactor = 20;
  return {std::max(middle / kFactor, option.least), std::min(middle * kFactor, option.most)};
}

std::string kind_name(Option::Kind kind) {
  switch (kind) {
    case Option::Kind::kDuration:
      return "duration";
    case Option::Kind::kNumber:
      return "number";
    case Option::Kind::kCount:
      return "count";
    case Option::Kind::kChoice:
      return "choice";
    case Option::Kind::kText:
      break;
  }
  return "text";
}

template <typename Options>
std::set<std::string> names_of(const Options& declare) {
  OptionList list;
  declare(list);
  std::set<std::string> names;
  for (const Option& option : list.all()) names.insert(option.name);
  return names;
}

}  // namespace

std::vector<std::string> stops(const Option& option, const std::string& usual) {
  std::vector<std::string> texts;
  if (!is_measured(option)) return texts;
  const auto [from, to, linear] = ends_of(option, usual);
  if (!(to > from)) return texts;
  std::map<double, std::string> by_value;
  const auto add = [&, &option = option](std::string text) {
    // What is rounded must not leave the bounds.
    const double value = read(option, text);
    if (value >= option.least && value <= option.most) by_value.emplace(value, std::move(text));
  };
  double first = from;
  if (from == 0 && !linear) {
    add(option.kind == Option::Kind::kDuration ? "0s" : "0");
    first = option.kind == Option::Kind::kCount ? 1 : to / 1000;
  }
  if (usual != kNoneWord && !usual.empty()) add(usual);
  // From 1 to 1.5 there are but six values of two digits.
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

Json catalogue() {
  ScenarioOptions scenario;
  OptionList list;
  declare_options(list, scenario);
  WorkloadOptions workload;
  ServiceOptions service;
  const auto of_clients = names_of([&](OptionList& some) { declare_options(some, workload); });
  const auto of_service =
      names_of([&](OptionList& some) { declare_options(some, service, Engine::kSimulated); });
  Json options = Json::array();
  for (const Option& option : list.all()) {
    // The page has seeds of its own.
    if (option.name == "seed") continue;
    const std::string usual = option.get();
    Json json{{"name", option.name}, {"kind", kind_name(option.kind)}, {"default", usual}};
    json["part"] = of_clients.contains(option.name)   ? "clients"
                   : of_service.contains(option.name) ? "service"
                                                      : "outage";
    json["group"] = option.group;
    json["help"] = option.help;
    json["basic"] = !option.basic.empty();
    if (!option.second_names.empty()) json["second_names"] = option.second_names;
    if (!option.choices.empty()) json["choices"] = option.choices;
    // Its names are too many for a help.
    if (option.name == "strategy") {
      json["kind"] = kind_name(Option::Kind::kChoice);
      for (const NamedStrategy& each : named_strategies()) json["choices"].push_back(each.name);
    }
    if (!option.examples.empty()) json["examples"] = option.examples;
    if (!option.unit.empty()) json["unit"] = option.unit;
    if (!option.same_as.empty()) json["same_as"] = option.same_as;
    if (is_measured(option)) {
      json["least"] = option.least;
      json["most"] = std::isinf(option.most) ? Json(nullptr) : Json(option.most);
      json["takes_none"] = option.takes_none;
      json["stops"] = stops(option, usual);
    }
    options.push_back(std::move(json));
  }
  Json strategies = Json::array();
  for (const NamedStrategy& each : named_strategies()) {
    strategies.push_back({{"name", each.name},
                          {"summary", each.summary},
                          {"source", each.source},
                          {"date", each.date}});
  }
  return {{"options", std::move(options)}, {"strategies", std::move(strategies)}};
}

}  // namespace retrystorm
