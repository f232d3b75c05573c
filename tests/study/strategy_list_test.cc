#include "study/strategy_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <stdexcept>

#include "common/exit_code.h"
#include "model/retry/strategies.h"
#include "tests/support/temp_dir.h"

namespace retrystorm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class StrategyListTest : public ::testing::Test {
 protected:
  StrategyListTest() { declare_options(options_, scenario_); }

  std::string file(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }

  std::vector<std::string> names(const std::string& list) {
    std::vector<std::string> result;
    for (const ListedStrategy& each : parse_strategies(options_, list)) result.push_back(each.name);
    return result;
  }

  std::string refusal(const std::string& list) {
    try {
      parse_strategies(options_, list);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  }

  const test::TempDir dir_;
  const std::string path_ = dir_.file("mine.ini");
  ScenarioOptions scenario_;
  OptionList options_;
};

TEST_F(StrategyListTest, HasEachOnceInItsOrder) {
  EXPECT_THAT(names("grpc,fixed,grpc"), ElementsAre("grpc", "fixed"));
  const std::string mine = file("max-retries = 2\n");
  EXPECT_THAT(names("fixed," + mine + ",none," + mine), ElementsAre("fixed", mine, "none"));
}

TEST_F(StrategyListTest, TakesAllBesideOthers) {
  const std::string mine = file("max-retries = 2\n");
  std::vector<std::string> expected{mine, "grpc"};
  for (const NamedStrategy& each : named_strategies()) {
    if (each.name != "grpc") expected.emplace_back(each.name);
  }
  EXPECT_EQ(names(mine + ",grpc,all"), expected);
}

TEST_F(StrategyListTest, ReadsTheSettingsOfAFile) {
  const auto listed = parse_strategies(options_, "fixed," + file("k = 3\nstrategy = polly\n"));
  EXPECT_EQ(listed[0].settings, std::nullopt);
  EXPECT_THAT(*listed[1].settings, ElementsAre(Pair("k", "3"), Pair("strategy", "polly")));
}

TEST_F(StrategyListTest, TakesSeveralOfWhatMayBeGivenSeveralTimes) {
  const auto listed =
      parse_strategies(options_, file("at = '60s restart'\nk = 3\nat = '70s load 0.5'\n"));
  EXPECT_THAT(*listed[0].settings,
              ElementsAre(Pair("at", "60s restart; 70s load 0.5"), Pair("k", "3")));
}

TEST_F(StrategyListTest, RefusesWhatIsNone) {
  EXPECT_THAT(refusal("fixed,fixd"), AllOf(HasSubstr("did you mean fixed?"), HasSubstr("or all")));
  EXPECT_THAT(refusal(""), HasSubstr("'' is not known"));
  EXPECT_THAT(refusal(file("max-retry = 2\n")), AllOf(HasSubstr(path_), HasSubstr("max-retry")));
  EXPECT_THAT(refusal(file("max-retries = x\n")), AllOf(HasSubstr(path_), HasSubstr("'x'")));
  const std::string between = "jitter = full\n";
  for (const auto& [given, named] : std::vector<std::pair<std::string, std::string>>{
           {file("max-retries = 2\n" + between + "max-retries = 3\n"), "2"},
           {file("backoff-cap = 2s\n" + between + "max-delay = 3s\n"), "2"}}) {
    EXPECT_THAT(refusal(given), HasSubstr(named));
  }
  EXPECT_THROW(parse_strategies(options_, "/nowhere/mine.ini"), UnreadableFile);
}

TEST(SetStrategy, TakesThePlaceOfAnother) {
  NamedOptions options{{"strategy", "fixed"}, {"clients", "5"}};
  set_strategy(options, {.name = "grpc"});
  EXPECT_THAT(options, ElementsAre(Pair("clients", "5"), Pair("strategy", "grpc")));
  set_strategy(options, {.name = "mine.ini", .settings = NamedOptions{{"max-retries", "2"}}});
  EXPECT_THAT(options, ElementsAre(Pair("clients", "5"), Pair("max-retries", "2")));
}

TEST(SetStrategy, LeavesGivenOptionsInAnyForm) {
  const ListedStrategy mine{
      .name = "mine.ini",
      .settings = NamedOptions{{"max-retries", "2"}, {"jitter", "full"}, {"deadline", "5s"}}};
  NamedOptions options{{"max-retries", "7"}, {"random", "1s"}};
  set_strategy(options, mine);
  EXPECT_THAT(options,
              ElementsAre(Pair("deadline", "5s"), Pair("max-retries", "7"), Pair("random", "1s")));
}

}  // namespace
}  // namespace retrystorm
