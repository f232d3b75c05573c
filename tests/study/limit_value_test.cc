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

}  // namespace
}  // namespace retrystorm
