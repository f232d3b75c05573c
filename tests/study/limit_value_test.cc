#include "study/limit_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "study/bisection.h"

namespace retrystorm {
namespace {

using ::testing::ElementsAre;

class LimitValueTest : public testing::Test {
 protected:
  LimitValueTest() { declare_options(options_, scenario_); }

  std::optional<LimitValue> find(const std::string& scale, bool least, double threshold) {
    return find_limit(parse_scale(options_, scale), least,
                      [&](const std::string& value) -> std::optional<TriedValue> {
                        const double number = std::strtod(value.c_str(), nullptr);
                        const bool holds = least ? number >= threshold : number <= threshold;
                        const Finding finding = holds ? Finding::kHolds : Finding::kBroken;
                        return TriedValue{
                            .value = value, .judgements = {{.finding = finding}}, .runs = 10};
                      });
  }

  ScenarioOptions scenario_;
  OptionList options_;
};

TEST(Bisect, FindsTheNeighboursInEitherOrder) {
  const auto never = [] { return false; };
  const Bracket up = bisect(
      100, 0, [](std::size_t step) { return step >= 37; }, never);
  EXPECT_EQ(up.good, 37);
  EXPECT_EQ(up.bad, 36);
  const Bracket down = bisect(
      0, 100, [](std::size_t step) { return step <= 37; }, never);
  EXPECT_EQ(down.good, 37);
  EXPECT_EQ(down.bad, 38);
}

TEST_F(LimitValueTest, ReadsAScale) {
  EXPECT_THAT(parse_scale(options_, "workers=3:6").values, ElementsAre("3", "4", "5", "6"));
  const ValueScale times = parse_scale(options_, "--backoff-base=10ms:1s");
  EXPECT_EQ(times.name, "backoff-base");
  EXPECT_EQ(times.values.size(), 257);
  EXPECT_EQ(times.values.front(), "10ms");
  EXPECT_EQ(times.values.back(), "1s");
  EXPECT_EQ(parse_scale(options_, "budget-deposit").values.size(), 257);
  EXPECT_EQ(parse_scale(options_, "error-share=5%:50%").values.front(), "0.05");
  for (const char* text : {"strategy", "jitter", "worker=5", "workers=5", "workers=0:5",
                           "workers=6:3", "workers=1:2:3", ""}) {
    EXPECT_THROW(parse_scale(options_, text), std::invalid_argument) << text;
  }
}

TEST_F(LimitValueTest, IsTheLastOneForWhichTheClaimsHold) {
  const auto least = find("workers=1:100", true, 37);
  EXPECT_EQ(least->found->value, "37");
  EXPECT_EQ(least->beside->value, "36");
  EXPECT_EQ(least->runs, 10 * least->values);
  const auto most = find("workers=1:100", false, 37);
  EXPECT_EQ(most->found->value, "37");
  EXPECT_EQ(most->beside->value, "38");
}

TEST_F(LimitValueTest, MayBeAnEndOfTheScaleOrNone) {
  const auto all = find("workers=1:100", true, 0);
  EXPECT_EQ(all->found->value, "1");
  EXPECT_FALSE(all->beside);
  const auto none = find("workers=1:100", true, 101);
  EXPECT_FALSE(none->found);
  EXPECT_EQ(none->beside->value, "100");
  EXPECT_EQ(none->values, 1);
}

// Holds at 1 to 9 and at 61 to 100: of a scale of 1 to 100 the bisection for the most finds the end, and
// 13, 25, 37 and 50 on the way say that the claims do not hold at all values below.
TEST_F(LimitValueTest, TriesFurtherValuesOnBothSides) {
  const auto judged = [](const std::string& value) -> std::optional<TriedValue> {
    const int number = std::atoi(value.c_str());
    const Finding finding = number < 10 || number > 60 ? Finding::kHolds : Finding::kBroken;
    return TriedValue{.value = value, .judgements = {{.finding = finding}}, .runs = 1};
  };
  const auto values_of = [](const std::vector<TriedValue>& tried) {
    std::vector<std::string> values;
    for (const TriedValue& each : tried) values.push_back(each.value);
    return values;
  };
  const ValueScale scale = parse_scale(options_, "workers=1:100");
  const auto most = find_limit(scale, false, judged, true);
  EXPECT_EQ(most->found->value, "100");
  EXPECT_EQ(most->further, 7);
  EXPECT_EQ(most->values, 9);
  EXPECT_THAT(values_of(most->against), ElementsAre("13", "25", "38", "50"));
  EXPECT_TRUE(find_limit(scale, false, judged)->against.empty());
  const auto in_order = [](const std::string& value) -> std::optional<TriedValue> {
    const Finding finding = std::atoi(value.c_str()) < 10 ? Finding::kHolds : Finding::kBroken;
    return TriedValue{.value = value, .judgements = {{.finding = finding}}, .runs = 1};
  };
  const auto ordered = find_limit(scale, false, in_order, true);
  EXPECT_EQ(ordered->found->value, "9");
  EXPECT_TRUE(ordered->against.empty());
}

TEST_F(LimitValueTest, SaysWhichAmountOfABudgetToSearch) {
  try {
    parse_scale(options_, "retry-budget");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("budget-deposit"));
  }
}

}  // namespace
}  // namespace retrystorm
