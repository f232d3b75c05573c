
#include "model/base/duration.h"
#include "model/base/text.h"
#include "simulator/scenario_options.h"
#include "study/named_options.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using ::testing::IsSupersetOf;

// All options, bound to a scenario.
struct AllOptions {
  ScenarioOptions scenario;
  OptionList list;

  AllOptions() { declare_options(list, scenario); }
  AllOptions(const AllOptions&) = delete;
  AllOptions& operator=(const AllOptions&) = delete;

  const Option& at(std::string_view name) const {
    const Option* option = list.find(name);
    if (option == nullptr) throw std::out_of_range(std::string(name));
    return *option;
  }
  std::vector<std::string> domain_of(std::string_view name) const {
    return domain(at(name), at(name).get());
  }
};

// A name that is misspelt would be a need that is always met.
TEST(Knobs, NeedOptionsThatThereAre) {
  const AllOptions knobs;
  for (const Option& option : knobs.list.all()) {
    for (const Option::Need& need : option.needs) {
      if (need.name.empty()) continue;
      EXPECT_NE(knobs.list.find(need.name), nullptr) << option.name << ": " << need.name;
    }
  }
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

// The value as text, in the form of the option.
std::string as_text(const Option& option, double value) {
  if (option.kind == Option::Kind::kDuration) return format_duration(from_seconds(value));
  if (option.kind == Option::Kind::kCount) return std::to_string(static_cast<std::int64_t>(value));
  return print_number(value);
}

TEST(Domain, HaveValuesThatTheOptionTakesInRisingOrder) {
  for (std::size_t i = 0; i < AllOptions().list.all().size(); ++i) {
    AllOptions knobs;
    const Option& option = knobs.list.all()[i];
    const std::vector<std::string> all = domain(option, option.get());
    double before = -1;
    for (const std::string& text : all) {
      EXPECT_TRUE(takes(option, text)) << option.name << '=' << text;
      const double value = measure(option, text);
      EXPECT_GT(value, before) << option.name << '=' << text;
      before = value;
      // The value shown is the chosen one.
      EXPECT_EQ(measure(option, option.get()), value) << option.name << '=' << text;
      if (text == kNoneWord) continue;
      EXPECT_GE(value, option.least) << option.name << '=' << text;
      EXPECT_LE(value, option.most) << option.name << '=' << text;
    }
    EXPECT_EQ(!all.empty() && all.back() == kNoneWord, option.takes_none) << option.name;
  }
}

TEST(Domain, ExistForQuantitiesOnly) {
  const AllOptions knobs;
  for (const Option& option : knobs.list.all()) {
    if (option.name == "seed") continue;  // none is better than another
    const std::size_t count = domain(option, option.get()).size();
    if (is_measured(option)) {
      EXPECT_GE(count, 10) << option.name;
      EXPECT_LE(count, 30) << option.name;
    } else {
      EXPECT_EQ(count, 0) << option.name;
    }
  }
}

TEST(Domain, HaveTheDefaultAmongThem) {
  const AllOptions knobs;
  for (const Option& option : knobs.list.all()) {
    if (option.name == "seed" || !is_measured(option)) continue;
    std::vector<double> values;
    for (const std::string& text : domain(option, option.get())) {
      values.push_back(measure(option, text));
    }
    EXPECT_THAT(values, Contains(measure(option, option.get()))) << option.name;
  }
}

TEST(Domain, HaveRoundValuesThatPeopleWouldChoose) {
  const AllOptions knobs;
  EXPECT_THAT(knobs.domain_of("error-share"),
              testing::ElementsAre("0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3", "0.35", "0.4",
                                   "0.45", "0.5", "0.55", "0.6", "0.65", "0.7", "0.75", "0.8",
                                   "0.85", "0.9", "0.95", "1"));
  EXPECT_THAT(knobs.domain_of("clients"), IsSupersetOf({"50", "1000", "20000"}));
  EXPECT_THAT(knobs.domain_of("curve-factor"), IsSupersetOf({"1", "1.02", "1.05", "1.5"}));
  EXPECT_THAT(knobs.domain_of("backoff-cap"), IsSupersetOf({"200ms", "2m0s", "none"}));
  EXPECT_THAT(knobs.domain_of("shed-above"), IsSupersetOf({"0", "1", "5000"}));
  EXPECT_THAT(knobs.domain_of("rejection-cost"), IsSupersetOf({"0s", "200ms"}));
}

TEST(Domain, StayWithinTheBoundsWhateverTheDefaultIs) {
  double value = 0.7;
  OptionList list;
  const Option& narrow = list.number("narrow", value, "between", 0.5, 30);
  for (const char* usual : {"0.5", "0.7", "30"}) {
    const auto all = domain(narrow, usual);
    ASSERT_FALSE(all.empty()) << usual;
    EXPECT_THAT(all, Contains(usual));
    for (const std::string& text : all) EXPECT_TRUE(takes(narrow, text)) << usual << ": " << text;
  }
}

// The page shows the bounds: they are the ones that the option enforces.
TEST(OptionData, HasTheBoundsThatTheOptionEnforces) {
  for (std::size_t i = 0; i < AllOptions().list.all().size(); ++i) {
    AllOptions knobs;
    const Option& option = knobs.list.all()[i];
    EXPECT_EQ(is_measured(option) && takes(option, "none"), option.takes_none) << option.name;
    if (!is_measured(option) || option.name == "seed") continue;
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
  for (std::size_t i = 0; i < AllOptions().list.all().size(); ++i) {
    AllOptions knobs;
    const Option& option = knobs.list.all()[i];
    for (const auto* texts : {&option.choices, &option.examples}) {
      for (const std::string_view text : *texts) {
        EXPECT_TRUE(takes(option, std::string(text))) << option.name << '=' << text;
      }
    }
    if (option.name == "strategy")
      continue;  // it is not measured, and its values are listed elsewhere
    EXPECT_EQ(option.kind == Option::Kind::kChoice, !option.choices.empty()) << option.name;
  }
}

}  // namespace
}  // namespace retrystorm
