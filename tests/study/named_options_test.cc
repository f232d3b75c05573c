#include "study/named_options.h"

#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

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
