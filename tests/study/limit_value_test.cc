#include "study/limit_value.h"

#include "study/statistics.h"
#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using Judged = std::function<std::optional<TriedValue>(const std::string& value)>;

// Claims that hold for some whole numbers.
Judged holds_if(bool (*holds)(int)) {
  return [holds](const std::string& value) -> std::optional<TriedValue> {
    const Finding finding = holds(std::atoi(value.c_str())) ? Finding::kHolds : Finding::kBroken;
    return TriedValue{.value = value, .judgements = {{.finding = finding}}, .runs = 1};
  };
}

std::vector<std::string> values_of(const std::vector<TriedValue>& tried) {
  std::vector<std::string> values;
  for (const TriedValue& each : tried) values.push_back(each.value);
  return values;
}

std::vector<std::string> words_of(const std::vector<Span>& spans) {
  std::vector<std::string> words;
  for (const Span& each : spans) {
    words.push_back(std::string(to_string(each.finding)) + ' ' + each.from + '-' + each.to);
  }
  return words;
}

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
  for (const char* text :
       {"strategy", "jitter", "worker=5", "workers=5", "workers=0:5", "workers=6:3",
        "workers=1:2:3", "", "seed", "seed=1:9", "observe", "observe=10s:1m", "runs", "threads"}) {
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
  EXPECT_EQ(none->values,
            6);  // both ends, that in force, 20, and a quarter, half and three quarters
}

// The search for the least value begins at 100 and that for the greatest at 1: it holds at the other end.
TEST_F(LimitValueTest, SeesThatTheClaimsHoldAtTheOtherEnd) {
  const ValueScale scale = parse_scale(options_, "workers=1:100");
  const auto low = find_limit(scale, true, holds_if([](int n) { return n < 5; }));
  EXPECT_FALSE(low->found);
  EXPECT_EQ(low->beside->value, "100");
  EXPECT_THAT(words_of(low->spans), ElementsAre("holds 1-1", "broken 20-100"));
  const auto high = find_limit(scale, false, holds_if([](int n) { return n > 90; }));
  EXPECT_FALSE(high->found);
  EXPECT_THAT(words_of(high->spans), ElementsAre("broken 1-20", "holds 100-100"));
  const auto middle = find_limit(scale, true, holds_if([](int n) { return n > 40 && n < 60; }));
  EXPECT_THAT(words_of(middle->spans), ElementsAre("broken 1-25", "holds 50-50", "broken 75-100"));
}

TEST_F(LimitValueTest, HasTheValueInForceOnItsScale) {
  options_.find("backoff-base")->set("123.4567ms");
  const ValueScale times = parse_scale(options_, "backoff-base=10ms:1s");
  EXPECT_EQ(times.values.size(), 258);
  ASSERT_TRUE(times.in_force);
  EXPECT_EQ(times.values[*times.in_force], "123.4567ms");
  EXPECT_FALSE(parse_scale(options_, "backoff-base=200ms:1s").in_force);
  options_.find("max-retries")->set("none");
  EXPECT_FALSE(parse_scale(options_, "max-retries=1:8").in_force);
}

// The bisection alone finds the far end, since both ends hold.
TEST_F(LimitValueTest, EndsBeforeTheValueInForceIfTheClaimsDoNotHoldForIt) {
  options_.find("workers")->set("40");
  const ValueScale scale = parse_scale(options_, "workers=1:100");
  const auto most = find_limit(scale, false, holds_if([](int n) { return n != 40; }));
  EXPECT_EQ(most->found->value, "39");
  EXPECT_EQ(most->beside->value, "40");
  EXPECT_EQ(most->further, 1);
  EXPECT_THAT(values_of(most->against), ElementsAre("100"));
  EXPECT_THAT(words_of(most->spans), ElementsAre("holds 1-39", "broken 40-40", "holds 100-100"));
  // The middles of 1 to 100 are 50, 25, 37, 31, 34, 35 and 36, and then those of 40 to 50.
  const auto least = find_limit(scale, true, holds_if([](int n) { return n >= 37 && n != 40; }));
  EXPECT_EQ(least->found->value, "41");
  EXPECT_EQ(least->beside->value, "40");
  EXPECT_THAT(values_of(least->against), ElementsAre("37"));
  EXPECT_THAT(words_of(least->spans),
              ElementsAre("broken 1-36", "holds 37-37", "broken 40-40", "holds 41-100"));
}

// Of the eighths of 1 to 100, 13 to 50 are in the gap and 62 to 87 beyond it.
TEST_F(LimitValueTest, TriesFurtherValuesOnBothSides) {
  options_.find("workers")->set("500");
  const ValueScale scale = parse_scale(options_, "workers=1:100");
  const auto judged = holds_if([](int n) { return n < 10 || n > 60; });
  const auto most = find_limit(scale, false, judged, SearchWay::kFurther);
  EXPECT_EQ(most->found->value, "9");
  EXPECT_EQ(most->beside->value, "10");
  EXPECT_EQ(most->further, 7);
  EXPECT_THAT(values_of(most->against), ElementsAre("62", "75", "87", "100"));
  EXPECT_THAT(words_of(most->spans), ElementsAre("holds 1-9", "broken 10-50", "holds 62-100"));
  EXPECT_EQ(find_limit(scale, false, judged)->found->value, "100");
  const auto ordered =
      find_limit(scale, false, holds_if([](int n) { return n < 10; }), SearchWay::kFurther);
  EXPECT_EQ(ordered->found->value, "9");
  EXPECT_TRUE(ordered->against.empty());
  EXPECT_THAT(words_of(ordered->spans), ElementsAre("holds 1-9", "broken 10-100"));
}

// Of a real service no value is tried that is more than twice one at which the claims hold.
TEST_F(LimitValueTest, Rises) {
  const ValueScale scale = parse_scale(options_, "workers=1:200");
  std::vector<std::string> tried;
  const auto rising = [&](bool least, auto holds) {
    tried.clear();
    return find_limit(
        scale, least,
        [&, judged = holds_if(holds)](const std::string& value) {
          tried.push_back(value);
          return judged(value);
        },
        SearchWay::kRising);
  };
  const auto most = rising(false, [](int n) { return n < 10; });
  EXPECT_EQ(most->found->value, "9");
  EXPECT_EQ(most->beside->value, "10");
  EXPECT_THAT(tried, ElementsAre("1", "2", "4", "8", "16", "12", "10", "9"));
  const auto least = rising(true, [](int n) { return n >= 5; });
  EXPECT_EQ(least->found->value, "5");
  EXPECT_EQ(least->beside->value, "4");
  EXPECT_THAT(tried, ElementsAre("1", "2", "4", "8", "6", "5"));
  EXPECT_EQ(rising(false, [](int) { return true; })->found->value, "200");
  EXPECT_EQ(tried.size(), 9U);  // 1, 2, 4, ..., 128, 200
  EXPECT_FALSE(rising(false, [](int) { return false; })->found);
  EXPECT_THAT(tried, ElementsAre("1"));
}

// The eighths of 1 to 200 are 25, 50, 75, ..., and those of 1 to the answer, 60, are 8, 15, 23, 30, ...
TEST_F(LimitValueTest, TriesMoreValuesBelowTheAnswer) {
  options_.find("workers")->set("500");
  const auto most = find_limit(parse_scale(options_, "workers=1:200"), false,
                               holds_if([](int n) { return n <= 60 && (n < 30 || n > 34); }),
                               SearchWay::kFurther);
  EXPECT_EQ(most->found->value, "29");
  EXPECT_EQ(most->beside->value, "30");
  EXPECT_THAT(words_of(most->spans),
              ElementsAre("holds 1-29", "broken 30-30", "holds 37-60", "broken 61-200"));
}

TEST_F(LimitValueTest, SaysWhichAmountOfABudgetToSearch) {
  test::expect_refusals([this](const std::string& name) { parse_scale(options_, name); },
                        {{"retry-budget", "budget-deposit"}});
}

}  // namespace
}  // namespace retrystorm
