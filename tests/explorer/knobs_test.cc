#include "explorer/engine/knobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model/base/duration.h"
#include "model/base/text.h"
#include "model/retry/strategies.h"
#include "simulator/scenario_options.h"

namespace retrystorm {
namespace {

using ::testing::Contains;
using ::testing::IsSupersetOf;

// All options, bound to a scenario of their own.
struct Knobs {
  ScenarioOptions scenario;
  OptionList list;

  Knobs() { declare_options(list, scenario); }
  Knobs(const Knobs&) = delete;
  Knobs& operator=(const Knobs&) = delete;

  const Option& at(std::string_view name) const {
    const Option* option = list.find(name);
    if (option == nullptr) throw std::out_of_range(std::string(name));
    return *option;
  }
  std::vector<std::string> stops_of(std::string_view name) const {
    return stops(at(name), at(name).get());
  }
};

bool has_a_measure(const Option& option) {
  return option.kind == Option::Kind::kDuration || option.kind == Option::Kind::kNumber ||
         option.kind == Option::Kind::kCount;
}

bool takes(const Option& option, const std::string& text) {
  try {
    option.set(text);
  } catch (const std::invalid_argument&) {
    return false;
  }
  return true;
}

double measure(const Option& option, const std::string& text) {
  if (text == kNoneWord) return std::numeric_limits<double>::infinity();
  return option.kind == Option::Kind::kDuration ? to_seconds(parse_duration(text))
                                                : parse_number(text, -HUGE_VAL, HUGE_VAL);
}

// As the option reads it.
std::string as_text(const Option& option, double value) {
  if (option.kind == Option::Kind::kDuration) return format_duration(from_seconds(value));
  if (option.kind == Option::Kind::kCount) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  return print_number(value);
}

TEST(Stops, AreTakenByTheirOptionFromTheLeastToTheGreatest) {
  for (std::size_t i = 0; i < Knobs().list.all().size(); ++i) {
    Knobs knobs;
    const Option& option = knobs.list.all()[i];
    const std::vector<std::string> all = stops(option, option.get());
    double before = -1;
    for (const std::string& text : all) {
      EXPECT_TRUE(takes(option, text)) << option.name << '=' << text;
      const double value = measure(option, text);
      EXPECT_GT(value, before) << option.name << '=' << text;
      before = value;
      // What is shown of it is what was chosen.
      EXPECT_EQ(measure(option, option.get()), value) << option.name << '=' << text;
      if (text == kNoneWord) continue;
      EXPECT_GE(value, option.least) << option.name << '=' << text;
      EXPECT_LE(value, option.most) << option.name << '=' << text;
    }
    EXPECT_EQ(!all.empty() && all.back() == kNoneWord, option.takes_none) << option.name;
  }
}

TEST(Stops, AreThereForWhateverIsMeasuredAndNothingElse) {
  const Knobs knobs;
  for (const Option& option : knobs.list.all()) {
    if (option.name == "seed") continue;  // none is better than another
    const std::size_t count = stops(option, option.get()).size();
    if (has_a_measure(option)) {
      EXPECT_GE(count, 10) << option.name;
      EXPECT_LE(count, 30) << option.name;
    } else {
      EXPECT_EQ(count, 0) << option.name;
    }
  }
}

TEST(Stops, HaveTheDefaultAmongThem) {
  const Knobs knobs;
  for (const Option& option : knobs.list.all()) {
    if (option.name == "seed" || !has_a_measure(option)) continue;
    std::vector<double> values;
    for (const std::string& text : stops(option, option.get())) {
      values.push_back(measure(option, text));
    }
    EXPECT_THAT(values, Contains(measure(option, option.get()))) << option.name;
  }
}

TEST(Stops, GoByEqualFactorsAsPeopleChooseThem) {
  const Knobs knobs;
  EXPECT_THAT(knobs.stops_of("error-share"),
              testing::ElementsAre("0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3", "0.35", "0.4",
                                   "0.45", "0.5", "0.55", "0.6", "0.65", "0.7", "0.75", "0.8",
                                   "0.85", "0.9", "0.95", "1"));
  EXPECT_THAT(knobs.stops_of("clients"), IsSupersetOf({"50", "1000", "20000"}));
  EXPECT_THAT(knobs.stops_of("curve-factor"), IsSupersetOf({"1", "1.02", "1.05", "1.5"}));
  EXPECT_THAT(knobs.stops_of("backoff-cap"), IsSupersetOf({"200ms", "2m0s", "none"}));
  EXPECT_THAT(knobs.stops_of("shed-above"), IsSupersetOf({"0", "1", "5000"}));
  EXPECT_THAT(knobs.stops_of("rejection-cost"), IsSupersetOf({"0s", "200ms"}));
}

TEST(Stops, KeepToTheBoundsOfAnOptionWhateverItsDefaultIs) {
  double value = 0.7;
  OptionList list;
  const Option& narrow = list.number("narrow", value, "between", 0.5, 30);
  for (const char* usual : {"0.5", "0.7", "30"}) {
    const auto all = stops(narrow, usual);
    ASSERT_FALSE(all.empty()) << usual;
    EXPECT_THAT(all, Contains(usual));
    for (const std::string& text : all) EXPECT_TRUE(takes(narrow, text)) << usual << ": " << text;
  }
}

// The page tells a reader the bounds: they are those that the option has.
TEST(OptionData, HasTheBoundsThatTheOptionHolds) {
  for (std::size_t i = 0; i < Knobs().list.all().size(); ++i) {
    Knobs knobs;
    const Option& option = knobs.list.all()[i];
    EXPECT_EQ(has_a_measure(option) && takes(option, "none"), option.takes_none) << option.name;
    if (!has_a_measure(option) || option.name == "seed") continue;
    const bool whole = option.kind == Option::Kind::kCount;
    EXPECT_TRUE(takes(option, as_text(option, option.least))) << option.name;
    const double below = whole ? option.least - 1
                         : option.kind == Option::Kind::kDuration
                             ? option.least - 1e-9
                             : std::nextafter(option.least, -1);
    EXPECT_FALSE(takes(option, as_text(option, below))) << option.name << '=' << below;
    if (std::isfinite(option.most)) {
      EXPECT_TRUE(takes(option, as_text(option, option.most))) << option.name;
      const double above = whole ? option.most + 1 : std::nextafter(option.most, HUGE_VAL);
      EXPECT_FALSE(takes(option, as_text(option, above))) << option.name << '=' << above;
    } else {
      const double much = whole ? 9e15 : 1e9;
      EXPECT_TRUE(takes(option, as_text(option, much))) << option.name;
    }
  }
}

TEST(OptionData, HasChoicesAndExamplesThatTheOptionTakes) {
  for (std::size_t i = 0; i < Knobs().list.all().size(); ++i) {
    Knobs knobs;
    const Option& option = knobs.list.all()[i];
    for (const auto* texts : {&option.choices, &option.examples}) {
      for (const std::string_view text : *texts) {
        EXPECT_TRUE(takes(option, std::string(text))) << option.name << '=' << text;
      }
    }
    if (option.name == "strategy") continue;  // its names are told besides
    EXPECT_EQ(option.kind == Option::Kind::kChoice, !option.choices.empty()) << option.name;
  }
}

TEST(Catalogue, HasEveryOptionOnceWithItsPart) {
  const auto json = catalogue();
  std::vector<std::string> names, expected;
  std::set<std::string> parts;
  for (const auto& option : json["options"]) {
    names.push_back(option["name"]);
    parts.insert(option["part"].get<std::string>());
    EXPECT_FALSE(option["help"].get<std::string>().empty()) << option["name"];
  }
  const Knobs knobs;
  for (const Option& option : knobs.list.all()) {
    if (option.name != "seed") expected.push_back(option.name);
  }
  EXPECT_EQ(names, expected);
  EXPECT_EQ(parts, (std::set<std::string>{"clients", "service", "outage"}));
  const auto part_of = [&json](const std::string& name) {
    for (const auto& option : json["options"]) {
      if (option["name"] == name) return option["part"].get<std::string>();
    }
    return std::string();
  };
  EXPECT_EQ(part_of("strategy"), "clients");
  EXPECT_EQ(part_of("clients"), "clients");
  EXPECT_EQ(part_of("queue-order"), "service");
  EXPECT_EQ(part_of("rate-limit"), "service");
  EXPECT_EQ(part_of("outage"), "outage");
  EXPECT_EQ(part_of("outage-for"), "outage");
  EXPECT_EQ(part_of("at"), "outage");
}

TEST(Catalogue, HasTheNamedStrategiesWithTheirSources) {
  const auto json = catalogue();
  ASSERT_EQ(json["strategies"].size(), named_strategies().size());
  for (std::size_t i = 0; i < named_strategies().size(); ++i) {
    EXPECT_EQ(json["strategies"][i]["name"], named_strategies()[i].name);
    EXPECT_EQ(json["strategies"][i]["source"], named_strategies()[i].source);
    EXPECT_FALSE(json["strategies"][i]["summary"].get<std::string>().empty());
  }
}

TEST(Catalogue, TellsNoBoundWhereThereIsNone) {
  const auto known = catalogue();
  for (const auto& option : known["options"]) {
    if (option["name"] == "outage-at") {
      EXPECT_TRUE(option["most"].is_null());
    }
    if (option["name"] == "error-share") {
      EXPECT_EQ(option["least"], 0);
      EXPECT_EQ(option["most"], 1);
      EXPECT_EQ(option["takes_none"], false);
    }
    EXPECT_EQ(option.contains("stops"), option.contains("least")) << option["name"];
  }
}

}  // namespace
}  // namespace retrystorm
