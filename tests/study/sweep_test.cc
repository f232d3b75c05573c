#include "study/sweep.h"

#include "model/retry/strategies.h"
#include "simulator/scenario_options.h"
#include "study/named_options.h"
#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

class SweepTest : public ::testing::Test {
 protected:
  std::vector<std::string> values(const std::string& text) { return parse_axis(text).values; }

  void refuses(const std::vector<std::pair<std::string, std::string>>& rows) {
    test::expect_refusals([](const std::string& text) { parse_axis(text); }, rows);
  }
};

TEST_F(SweepTest, TakesAListAsItIs) {
  EXPECT_EQ(parse_axis("backlog=5,128,256").name, "backlog");
  EXPECT_THAT(values("backlog=5,128,256"), ElementsAre("5", "128", "256"));
  EXPECT_THAT(values("--strategy=fixed,responsive"), ElementsAre("fixed", "responsive"));
  EXPECT_THAT(values("outage-for=500ms,1m"), ElementsAre("500ms", "1m"));
  EXPECT_THAT(values("jitter=10%,20%"), ElementsAre("10%", "20%"));
}

TEST_F(SweepTest, TakesAListWhoseValuesHaveColons) {
  EXPECT_THAT(values("service-time=100ms,lognormal:100ms:50%"),
              ElementsAre("100ms", "lognormal:100ms:50%"));
  EXPECT_THAT(values("service-time=lognormal:100ms:0.5,100ms"),
              ElementsAre("lognormal:100ms:0.5", "100ms"));
}

TEST_F(SweepTest, ExpandsARangeWithItsEnd) {
  EXPECT_THAT(values("clients=100:300:100"), ElementsAre("100", "200", "300"));
  EXPECT_THAT(values("clients=100:299:100"), ElementsAre("100", "200"));
  EXPECT_THAT(values("jitter=0:0.3:0.1"), ElementsAre("0", "0.1", "0.2", "0.3"));
  EXPECT_THAT(values("lambda=500ms:2s:500ms"), ElementsAre("500ms", "1s", "1.5s", "2s"));
  EXPECT_THAT(values("timeout=1:2:1"), ElementsAre("1s", "2s"));
}

TEST_F(SweepTest, WritesNumbersPlainly) {
  EXPECT_THAT(values("error-share=5%,50%"), ElementsAre("0.05", "0.5"));
  EXPECT_THAT(values("clients=1k,10k"), ElementsAre("1000", "10000"));
  EXPECT_THAT(values("clients=1k:3k:1k"), ElementsAre("1000", "2000", "3000"));
  EXPECT_THAT(values("rate=100/s,200/s"), ElementsAre("100", "200"));
  EXPECT_THAT(values("rate=1k/s,600/min"), ElementsAre("1000", "10"));
  EXPECT_THAT(values("budget-deposit=10%,20%"), ElementsAre("0.1", "0.2"));
}

TEST_F(SweepTest, TakesAllStrategiesTogether) {
  const Axis axis = parse_axis("strategy=all");
  EXPECT_EQ(axis.values.size(), named_strategies().size());
  EXPECT_EQ(axis.values.front(), named_strategies().front().name);
}

TEST_F(SweepTest, RefusesWhatCannotBeSwept) {
  refuses({
      {"nonsense=1,2", "option"},
      {"json=a,b", "option"},
      {"strategey=fixed", "did you mean strategy?"},
      {"seed=1,2", "cells"},
      {"backlog", "NAME="},
      {"=1,2", "NAME="},
      {"budget-tokens=10%,20%", "'10%' is a ratio"},
      // Given twice.
      {"rate=60,80,60", "60"},
      {"error-share=0.5,50%", "50%"},
      {"jitter=full,full", "full"},
      // No ranges.
      {"clients=5:1:1", "empty"},
      {"clients=1:5:0", "step"},
      {"clients=1:5:-1", "step"},
      {"clients=1:5", "FROM:TO:STEP"},
      {"jitter=0:nan:0.1", "nan"},
      {"jitter=0:1:1e-12", "many"},
      {"base-delay=1s:1h:0.001s", "too many"},  // writing these out would take seconds
  });
}

TEST(Grid, CombinesAllValuesWithTheLastAxisFastest) {
  const Grid grid({{"a", {"1", "2"}}, {"b", {"x", "y", "z"}}});
  EXPECT_EQ(grid.size(), 6);
  EXPECT_THAT(grid.values(0), ElementsAre("1", "x"));
  EXPECT_THAT(grid.values(1), ElementsAre("1", "y"));
  EXPECT_THAT(grid.values(3), ElementsAre("2", "x"));
  EXPECT_THAT(grid.values(5), ElementsAre("2", "z"));
}

TEST(CellShare, PutsEachCellIntoOnePart) {
  const Grid grid({{"a", {"1", "2"}}, {"b", {"x", "y", "z"}}});
  for (std::size_t parts = 1; parts <= 9; ++parts) {
    std::vector<std::size_t> seen;
    for (std::size_t number = 1; number <= parts; ++number) {
      const CellShare share{.number = number, .parts = parts};
      const std::vector<std::size_t> own = share.of(6);
      const Grid part = grid.part(share);
      ASSERT_EQ(part.size(), own.size()) << number << '/' << parts;
      for (std::size_t i = 0; i < own.size(); ++i) {
        EXPECT_EQ(part.values(i), grid.values(own[i]));
        EXPECT_EQ(own[i], number - 1 + i * parts);
      }
      seen.insert(seen.end(), own.begin(), own.end());
    }
    EXPECT_THAT(seen, ::testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5)) << parts;
  }
  EXPECT_THAT(CellShare().of(3), ElementsAre(0, 1, 2));
  EXPECT_THAT(CellShare{.number = 2}.of(3), ElementsAre(1));
}

TEST(CellShare, RefusesWhatIsNoShare) {
  test::expect_refusals([](const std::string& text) { parse_share(text); }, {{"3", ""},
                                                                             {"1/1", ""},
                                                                             {"4/4", ""},
                                                                             {"0/4", "from 1 to n"},
                                                                             {"5/4", "from 1 to n"},
                                                                             {"1/0", "from 1 to n"},
                                                                             {"1/2/3", "2/3"},
                                                                             {"-1/4", "-1"},
                                                                             {"/4", "''"},
                                                                             {"x", "x"}});
  test::expect_refusals<std::size_t>([](std::size_t number) { CellShare{.number = number}.of(6); },
                                     {{6, ""}, {7, "6 cells"}});
}

TEST(Grid, HasOneCellWithoutAxes) {
  EXPECT_EQ(Grid({}).size(), 1);
  EXPECT_TRUE(Grid({}).values(0).empty());
}

std::string text_of(ScenarioOptions scenario, std::string_view name) {
  OptionList list;
  declare_options(list, scenario);
  return list.find(name)->get();
}

TEST(ScenarioOf, TakesOptionsInTheOrderOfTheirDeclaration) {
  // The strategy does not undo options that come before it in the alphabet.
  const ScenarioOptions scenario =
      scenario_of({{"backoff-base", "3s"}, {"strategy", "exponential"}});
  EXPECT_EQ(text_of(scenario, "backoff-base"), "3s");
  EXPECT_EQ(text_of(scenario, "strategy"), "exponential");
  EXPECT_EQ(text_of(scenario, "growth"), "exponential");
}

TEST(ScenarioOf, TakesSecondNamesInThatOrderToo) {
  const ScenarioOptions scenario = scenario_of({{"fixed-delay", "3s"}, {"strategy", "fixed"}});
  EXPECT_EQ(text_of(scenario, "backoff-base"), "3s");
}

// The jitter is of another kind than the strategy's. Options given beside it still hold.
TEST(ScenarioOf, TakesTheJitterBeforeOptionsThatItWouldReplace) {
  const NamedOptions full{{"strategy", "exponential"}, {"jitter", "full"}};
  EXPECT_EQ(text_of(scenario_of(full), "grow-from"), "unjittered");
  NamedOptions given = full;
  given.emplace("grow-from", "jittered");
  given.emplace("jitter-first", "no");
  EXPECT_EQ(text_of(scenario_of(given), "grow-from"), "jittered");
  EXPECT_EQ(text_of(scenario_of(given), "jitter-first"), "no");
}

TEST(ScenarioOf, RefusesInTheWordsOfTheCommandLine) {
  test::expect_refusals<NamedOptions>(
      scenario_of, {{{{"clients", "0"}}, "clients: '0'"},
                    {{{"error-share", "0,5"}}, "error-share: '0,5'"},
                    {{{"lambda", "10 x"}}, "lambda: '10 x'"},
                    {{{"strategy", "exponentail"}}, "did you mean exponential?"},
                    {{{"cleints", "5"}}, "'cleints'"},
                    {{{"jitter", "full"}, {"random", "1s"}}, "random: jitter sets the same"}});
}

}  // namespace
}  // namespace retrystorm
