// Which settings a search may try, and what options they are.
#include "retrystorm/policy_space.h"

#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

using ::testing::UnorderedElementsAre;

std::vector<ListedStrategy> strategies(const std::vector<std::string>& names) {
  std::vector<ListedStrategy> list;
  for (const std::string& name : names) list.push_back({.name = name});
  return list;
}

// Settings of the first strategy with this value of each of these knobs, by its number.
Settings with(const PolicySpace& space,
              const std::vector<std::pair<std::string, std::size_t>>& all) {
  Settings settings = space.strategy(0);
  const std::vector<std::string> names = space.names();
  for (const auto& [name, value] : all) {
    const auto place = std::find(names.begin(), names.end(), name) - names.begin();
    settings.at(static_cast<std::size_t>(place) + 1) = value;
  }
  return settings;
}

// The numbers of budgets and breakers: each makes every setting of these one more, and is settled as any other knob.
const std::vector<std::string> kNumbers{"budget-tokens", "budget-deposit", "budget-share",
                                        "budget-min-concurrency", "breaker-failure-share"};

TEST(PolicySpace, SetsBackWhatHasNoEffect) {
  const PolicySpace space(strategies({"begin", "begin"}), {}, {}, std::nullopt);
  // A factor has none on constant waits, and full jitter is what the strategy has.
  Settings settings = with(space, {{"growth", 1}, {"backoff-factor", 2}, {"jitter", 4}});
  ASSERT_TRUE(space.knobs().settle(settings));
  EXPECT_THAT(space.changes(settings), UnorderedElementsAre(Pair("growth", "constant")));
  const ListedScenario unchanged(scenario_of(space.options_of(space.strategy(0), {})));
  EXPECT_EQ(unchanged.list.find("jitter")->get(), "full");
  const ScenarioOptions scenario = scenario_of(space.options_of(settings, {{"timeout", "1s"}}));
  EXPECT_EQ(scenario.workload.retry.backoff.growth, Growth::kConstant);
  EXPECT_EQ(scenario.workload.retry.limit.max_retries, 2u);
  EXPECT_EQ(scenario.workload.timeout, std::chrono::seconds(1));
  // Another strategy is tried as it is.
  settings = with(space, {{"growth", 1}});
  settings[0] = 1;
  ASSERT_TRUE(space.knobs().settle(settings));
  EXPECT_EQ(settings, space.strategy(1));
}

TEST(PolicySpace, TriesOnlyWhatRetriesTheSameWithTheSameTimeout) {
  std::vector<ListedStrategy> list = strategies({"begin", "grpc"});
  list.push_back({.name = "grpc",
                  .settings = NamedOptions{{"strategy", "grpc"}, {"retry-on", "503+timeout"}}});
  list.front().settings = NamedOptions{{"strategy", "begin"}, {"retry-on", "503+timeout"}};
  const PolicySpace space(list, {{"timeout", "700ms"}}, kNumbers, std::nullopt);
  const std::vector<Settings> all = space.simplest(1'000);
  EXPECT_THAT(all, Not(Contains(space.strategy(1))));  // as it is, it does not retry timeouts
  EXPECT_THAT(all, Contains(space.strategy(2)));
  for (const Settings& each : all) {
    const ScenarioOptions scenario = scenario_of(space.options_of(each, {{"timeout", "700ms"}}));
    EXPECT_EQ(to_string(scenario.workload.retry.limit.retry_on), "503+timeout");
    EXPECT_EQ(scenario.workload.timeout, std::chrono::milliseconds(700));
  }
  EXPECT_THAT(space.in_full(space.strategy(2)), Contains(Pair("retry-on", "503+timeout")));
  EXPECT_THAT(space.in_full(space.strategy(2)), Contains(Pair("timeout", "700ms")));
}

// Attempts without an end are allowed only where they must stay, and then something else ends the retries.
TEST(PolicySpace, AllowsOnlyWhatEnds) {
  const auto allows = [](const PolicySpace& space, Settings settings) {
    return space.knobs().settle(settings);
  };
  const PolicySpace begin(strategies({"begin", "fixed", "finagle"}), {}, kNumbers, std::nullopt);
  EXPECT_TRUE(allows(begin, begin.strategy(0)));
  EXPECT_FALSE(allows(begin, begin.strategy(1)));
  EXPECT_FALSE(allows(begin, begin.strategy(2)));  // a budget, and no last attempt
  // "none" is the first value of both.
  EXPECT_TRUE(allows(begin, with(begin, {{"retry-budget", 1}})));
  EXPECT_TRUE(allows(begin, with(begin, {{"deadline", 1}})));
  EXPECT_FALSE(allows(begin, with(begin, {{"retry-budget", 1}, {"deadline", 1}})));

  const PolicySpace endless(strategies({"fixed", "begin"}), {}, {}, std::nullopt);
  EXPECT_FALSE(allows(endless, endless.strategy(0)));
  EXPECT_FALSE(allows(endless, with(endless, {{"max-attempts", 2}})));
  EXPECT_TRUE(allows(endless, with(endless, {{"max-attempts", 2}, {"retry-budget", 3}})));
  EXPECT_TRUE(allows(endless, endless.strategy(1)));
  const PolicySpace meant(strategies({"fixed"}), {}, {"max-attempts"}, std::nullopt);
  EXPECT_TRUE(allows(meant, meant.strategy(0)));
  for (const Settings& each : begin.simplest(1'000)) {
    EXPECT_LT(scenario_of(begin.options_of(each, {})).workload.retry.limit.max_retries, 10u);
  }
}

TEST(PolicySpace, LeavesAloneWhatIsGivenOrFixed) {
  const PolicySpace all(strategies({"begin"}), {}, {}, std::nullopt);
  const PolicySpace space(strategies({"begin"}), {{"max-retries", "4"}}, {"jitter", "deadline"},
                          std::nullopt);
  EXPECT_THAT(all.names(), Contains("max-attempts"));
  EXPECT_THAT(space.names(), SizeIs(all.names().size() - 3));
  EXPECT_THAT(space.names(), Not(Contains("max-attempts")));
  EXPECT_EQ(scenario_of(space.options_of(space.strategy(0), {{"max-retries", "4"}}))
                .workload.retry.limit.max_retries,
            4u);
  EXPECT_THROW(PolicySpace(strategies({"begin"}), {}, {"jiter"}, std::nullopt),
               std::invalid_argument);
  EXPECT_THROW(PolicySpace(strategies({"begin"}), {}, {"backlog"}, std::nullopt),
               std::invalid_argument);
}

TEST(PolicySpace, AllowsWhatTheFormatCanSay) {
  // Envoy's numbers are none of gRPC's.
  const std::vector<std::string> fixed{
      "growth",   "backoff-base", "backoff-factor",         "backoff-cap",          "breaker",
      "deadline", "budget-share", "budget-min-concurrency", "breaker-failure-share"};
  const PolicySpace space(strategies({"grpc", "exponential"}), {}, fixed, ExportFormat::kGrpc);
  const std::vector<Settings> simplest = space.simplest(1'000);
  EXPECT_THAT(simplest, Contains(space.strategy(0)));
  EXPECT_THAT(simplest, Not(Contains(space.strategy(1))));  // gRPC has at most five attempts
  for (const Settings& each : simplest) EXPECT_LE(space.changes(each).size(), 2u);
  const PolicySpace without(
      {{.name = "grpc", .settings = NamedOptions{{"strategy", "grpc"}, {"retry-budget", "none"}}}},
      {}, fixed, ExportFormat::kGrpc);
  EXPECT_THAT(without.simplest(1'000),
              Contains(with(without, {{"retry-budget", 7}, {"budget-deposit", 5}})));
  const std::vector<std::string> all = space.names();
  const PolicySpace one(strategies({"begin"}), {}, {all.begin() + 1, all.end()}, std::nullopt);
  EXPECT_THAT(one.simplest(3), SizeIs(3));
  Settings four = with(space, {{"max-attempts", 4}, {"budget-tokens", 4}});
  ASSERT_TRUE(space.knobs().settle(four));
  EXPECT_THAT(space.changes(four),
              UnorderedElementsAre(Pair("max-attempts", "5"), Pair("budget-tokens", "100")));
  Settings others = with(space, {{"max-attempts", 7}, {"jitter", 4}, {"retry-budget", 3}});
  ASSERT_TRUE(space.knobs().settle(others));
  EXPECT_EQ(others, space.strategy(0));
}

}  // namespace
}  // namespace retrystorm::test
