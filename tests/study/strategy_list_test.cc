
#include "common/exit_code.h"
#include "model/retry/strategies.h"
#include "study/sweep.h"
#include "tests/support/refusal.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

class StrategyListTest : public ::testing::Test {
 protected:
  std::string file(const std::string& text) {
    std::ofstream(path_) << text;
    return path_;
  }

  std::vector<std::string> names(const std::string& list) {
    std::vector<std::string> result;
    for (const ListedStrategy& each : parse_strategies(list)) result.push_back(each.name);
    return result;
  }

  const test::TempDir dir_;
  const std::string path_ = dir_.file("mine.ini");
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
  const auto listed = parse_strategies("fixed," + file("k = 3\nstrategy = polly\n"));
  EXPECT_EQ(listed[0].settings, std::nullopt);
  EXPECT_THAT(*listed[1].settings, ElementsAre(Pair("k", "3"), Pair("strategy", "polly")));
}

TEST_F(StrategyListTest, TakesSeveralOfWhatMayBeGivenSeveralTimes) {
  const auto listed = parse_strategies(file("at = '60s restart'\nk = 3\nat = '70s load 0.5'\n"));
  EXPECT_THAT(*listed[0].settings,
              ElementsAre(Pair("at", "60s restart; 70s load 0.5"), Pair("k", "3")));
}

TEST_F(StrategyListTest, RefusesWhatIsNone) {
  // The files are written one after the other, each before it is read.
  const auto parse = [](const std::string& list) { parse_strategies(list); };
  const auto parse_file = [&](const std::string& text) { parse(file(text)); };
  test::expect_refusals(
      parse, {{"fixed,fixd", "did you mean fixed?"}, {"fixed,fixd", "or all"}, {"", "''"}});
  test::expect_refusals<std::string, std::exception>(
      parse_file, {{"max-retry = 2\n", path_},
                   {"max-retry = 2\n", "max-retry"},
                   {"max-retries = x\n", path_},
                   {"max-retries = x\n", "'x'"},
                   {"max-retries = 2\njitter = full\nmax-retries = 3\n", "2"},
                   {"backoff-cap = 2s\njitter = full\nmax-delay = 3s\n", "2"}});
  EXPECT_THROW(parse_strategies("/nowhere/mine.ini"), UnreadableFile);
}

TEST(WithStrategy, TakesThePlaceOfAnother) {
  const NamedOptions grpc =
      with_strategy({{"strategy", "fixed"}, {"clients", "5"}}, {.name = "grpc"});
  EXPECT_THAT(grpc, ElementsAre(Pair("clients", "5"), Pair("strategy", "grpc")));
  const ListedStrategy mine{.name = "mine.ini", .settings = NamedOptions{{"max-retries", "2"}}};
  EXPECT_THAT(with_strategy(grpc, mine),
              ElementsAre(Pair("clients", "5"), Pair("max-retries", "2")));
}

TEST(WithStrategy, LeavesGivenOptionsInAnyForm) {
  const ListedStrategy mine{
      .name = "mine.ini",
      .settings = NamedOptions{{"max-retries", "2"}, {"jitter", "full"}, {"deadline", "5s"}}};
  EXPECT_THAT(with_strategy({{"max-retries", "7"}, {"random", "1s"}}, mine),
              ElementsAre(Pair("deadline", "5s"), Pair("max-retries", "7"), Pair("random", "1s")));
}

}  // namespace
}  // namespace retrystorm
