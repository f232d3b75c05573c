#include "simulate/tried_suggestions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "simulator/scenario_options.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::StartsWith;

CellResult with(double during, double after, Duration p50, Duration p99, double attempts) {
  CellResult cell{.runs = 20, .recovered = 20};
  cell.phases[0] = {.success = 1.0};
  cell.phases[1] = {.success = during};
  cell.phases[2] = {.success = after};
  cell.request_p50 = TimeBound{.time = p50};
  cell.request_p99 = TimeBound{.time = p99};
  cell.amplification.value = attempts;
  return cell;
}

TEST(ClearGain, IsNoneThatSomeRequestsPayFor) {
  const CellResult before = with(0.5, 0.99, 100ms, 1s, 2);
  EXPECT_FALSE(is_clear_gain(before, before));
  EXPECT_TRUE(is_clear_gain(with(0.6, 0.99, 100ms, 1s, 2), before));
  EXPECT_TRUE(is_clear_gain(with(0.5, 0.99, 100ms, 1s, 1.2), before));
  EXPECT_TRUE(is_clear_gain(with(0.5, 0.99, 100ms, 500ms, 2), before));
  EXPECT_FALSE(is_clear_gain(with(0.6, 0.9, 100ms, 1s, 1), before));
  EXPECT_FALSE(is_clear_gain(with(0.6, 0.99, 27s, 1s, 1), before));
  EXPECT_FALSE(is_clear_gain(with(0.6, 0.99, 100ms, 2s, 1), before));
}

// Requests that have not ended are no gain.
TEST(ClearGain, CountsWhatIsLeftOut) {
  CellResult before{.runs = 20, .no_outage = 20}, now = before;
  before.success_share.value = 0.9;
  now.success_share.value = 1;
  EXPECT_TRUE(is_clear_gain(now, before));
  now.unfinished = 0.2;
  EXPECT_FALSE(is_clear_gain(now, before));
}

// 20 workers do 400/s. 3 attempts of 300/s each are too many, and with a budget of 10 % 330/s are not.
TEST(TriedSuggestions, HaveOneForClientsBesideOneForTheService) {
  const NamedOptions row{
      {"service", "workers"},      {"workers", "20"},     {"service-time", "50ms"},
      {"arrivals", "open"},        {"rate", "300"},       {"outage-for", "10s"},
      {"strategy", "exponential"}, {"max-attempts", "3"}, {"processes", "4"}};
  CellResult down{.runs = 5, .collapsed = 5};
  const auto tried =
      tried_suggestions(row, down, {}, {.runs = 5, .threads = 2, .seed = 1}, nullptr);
  EXPECT_THAT(tried, ElementsAre(StartsWith("--queue-length=390 (0 of 5 runs down"),
                                 StartsWith("--retry-budget=10% (0 of 5 runs down")));
}

// As docs/how-do-i.md has it: 4 attempts of 60/s are more than 200/s where the workers between do not limit them.
TEST(TriedSuggestions, HelpWhatIsWellOnlyAsItWasAsked) {
  const NamedOptions given{{"chain", "svc 64x20ms >1s db 20x100ms"},
                           {"arrivals", "open"},
                           {"rate", "60"},
                           {"timeout", "5s"},
                           {"max-retries", "3"},
                           {"growth", "exponential"},
                           {"jitter", "full"},
                           {"outage-for", "10s"},
                           {"retry-at", "top"}};
  const ScenarioOptions row = scenario_of(given);
  const Evaluator evaluator(2);
  const CellResult result = summarize(evaluator.run(make_scenario(row, 1), seeds_from(1, 10)));
  ASSERT_EQ(result.down_runs(), 0u);
  const AnswerTrials trials({row, given, result, {}}, evaluator, 1, 10);
  const CampaignOptions campaign{.runs = 10, .threads = 2, .seed = 1};
  EXPECT_THAT(suggestion_beside(row, result, trials, {}, campaign, nullptr),
              StartsWith("--retry-budget=10% (0 of 10 runs down with "));
  EXPECT_EQ(suggestion_beside(row, result, trials, {"retry-budget"}, campaign, nullptr), "");
  CellResult down = result;
  down.recovered = 0;
  down.collapsed = 10;
  EXPECT_EQ(suggestion_beside(row, down, trials, {}, campaign, nullptr), "");
}

}  // namespace
}  // namespace retrystorm
