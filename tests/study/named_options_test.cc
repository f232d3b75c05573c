#include "study/named_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace retrystorm {
namespace {

using ::testing::HasSubstr;

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
  const auto refusal = [](const NamedOptions& given) {
    try {
      scenario_of(given);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_EQ(refusal({{"clients", "0"}}), "clients: '0' is not a whole number from 1 to 1000000000");
  EXPECT_EQ(refusal({{"error-share", "0,5"}}), "error-share: '0,5' is not a number from 0 to 1");
  EXPECT_THAT(refusal({{"lambda", "10 x"}}), HasSubstr("lambda: '10 x' has an unknown unit"));
  EXPECT_THAT(refusal({{"strategy", "exponentail"}}), HasSubstr("did you mean exponential?"));
  EXPECT_THAT(refusal({{"cleints", "5"}}), HasSubstr("there is no option 'cleints'"));
  EXPECT_EQ(refusal({{"jitter", "full"}, {"random", "1s"}}),
            "random: jitter sets the same: give only one of them");
}

}  // namespace
}  // namespace retrystorm
