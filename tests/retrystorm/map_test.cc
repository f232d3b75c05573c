#include "retrystorm/map.h"

#include "simulator/scenario_options.h"
#include "study/cell_result.h"
#include "tests/support/facts.h"
#include "tests/support/refusal.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// Of ten runs, all recovered unless the test says otherwise.
CellValues cell(const std::map<std::string, nlohmann::ordered_json>& some) {
  std::map<std::string, nlohmann::ordered_json> named{
      {"runs", 10},     {"recovered", 10}, {"relapsed", 0}, {"recovering", 0},
      {"undecided", 0}, {"collapsed", 0},  {"down", 0.0}};
  for (const auto& [name, value] : some) named[name] = value;
  CellValues figures;
  for (const CellColumn& column : cell_columns()) figures.push_back(named[column.name]);
  return figures;
}

CellValues down(double share) {
  return cell({{"down", share}});
}

class HeatMapTest : public ::testing::Test {
 protected:
  HeatMapTest() { declare_options(options_, scenario_); }

  HeatMap map(std::vector<Axis> axes, const std::vector<CellValues>& cells,
              const std::string& show = "down") {
    return {options_, Grid(std::move(axes)), show, cells};
  }

  std::string text(std::vector<Axis> axes, const std::vector<CellValues>& cells,
                   const std::string& show = "down", bool numbers = true) {
    std::ostringstream out;
    map(std::move(axes), cells, show).print(out, Style(), numbers);
    return out.str();
  }

  ScenarioOptions scenario_;
  OptionList options_;
};

TEST_F(HeatMapTest, SortsNumbersAndMarksOpenCells) {
  const std::vector<Axis> axes{{"outage-for", {"10", "5s"}}, {"max-retries", {"none", "4", "10"}}};
  const std::vector<CellValues> cells{
      down(1),    down(0.25), down(0.5),
      down(0.75), down(0),    cell({{"recovered", 5}, {"undecided", 5}, {"down", nullptr}})};
  EXPECT_THAT(text(axes, cells), HasSubstr("\n             max-retries\n"
                                           "outage-for   4  10  none\n"
                                           "5s           0  -+    75\n"
                                           "10s         25  50   100\n"));
  EXPECT_THAT(text(axes, cells, "down", false), HasSubstr(" 5s  ·?▓\n             10s  ░▒█\n"));
  EXPECT_EQ(test::facts(map(axes, cells).where_down(0)), "map-from(option=max-retries, from=none)");
}

TEST_F(HeatMapTest, SaysFromWhereOnItIsDown) {
  const auto said = [this](const std::vector<double>& shares) {
    std::vector<CellValues> cells;
    for (const double share : shares) cells.push_back(down(share));
    return test::facts(
        map({{"clients", {"1", "2"}}, {"backlog", {"5", "6", "7"}}}, cells).where_down(0));
  };
  EXPECT_EQ(said({0, 0, 0, 0.5, 0, 0}), "map-back");
  EXPECT_EQ(said({1, 1, 1, 1, 1, 0.6}), "map-down");
  EXPECT_EQ(said({0, 1, 1, 0, 0, 1}), "map-from-to(option=backlog, from=6, to=7)");
  EXPECT_EQ(said({0, 0, 0, 0, 1, 1}), "map-from(option=backlog, from=6)");
  EXPECT_EQ(said({0, 1, 0, 0, 0, 0}), "map-some(down=1, cells=6)");
}

TEST_F(HeatMapTest, KeepsTheOrderOfNamesAndHasABlockForEachStrategy) {
  const std::vector<Axis> axes{
      {"strategy", {"fixed", "grpc"}}, {"jitter", {"none", "full"}}, {"backlog", {"5"}}};
  const auto retries = [](double value) { return cell({{"amplification", value}}); };
  const std::string all =
      text(axes, {retries(1), retries(2), retries(3.14159), cell({})}, "amplification");
  EXPECT_THAT(all, HasSubstr("\nfixed: jitter        5\n"
                             "none                 1\n"
                             "full                 2\ngrpc: "));
  EXPECT_THAT(all, HasSubstr("\ngrpc: jitter        5\n"
                             "none             3.14\n"
                             "full                -\n"));
}

TEST_F(HeatMapTest, ShowsAVerdictAsAShareOfTheRuns) {
  const std::vector<Axis> axes{{"clients", {"10"}}, {"backlog", {"5", "6"}}};
  const std::vector<CellValues> cells{cell({{"recovered", 7}, {"collapsed", 3}}),
                                      cell({{"recovered", 0}})};  // without an outage
  EXPECT_THAT(text(axes, cells, "recovered"), HasSubstr("\n10         70  -\n"));
}

TEST_F(HeatMapTest, KnowsTheLeastCertainCellOfEachPanel) {
  const std::vector<Axis> axes{
      {"strategy", {"fixed", "grpc"}}, {"clients", {"10"}}, {"backlog", {"9", "5", "6"}}};
  EXPECT_THAT(
      map(axes, {down(1), down(0.25), down(0.75), down(0), down(1), down(0)}).least_certain(),
      ElementsAre(1, 3));
}

TEST_F(HeatMapTest, IsATableOfMarkdown) {
  const std::vector<Axis> axes{
      {"strategy", {"fixed"}}, {"outage-for", {"2"}}, {"backlog", {"5", "6"}}};
  const test::TempDir dir;
  LineFile file(dir.file("md"));
  write_markdown(file, map(axes, {down(0), down(1)}).tables().at(0));
  EXPECT_EQ(test::read_file(dir.file("md")),
            "| fixed: outage-for | backlog: 5 | 6 |\n|---|---|---|\n| 2s | 0 | 100 |\n");
}

TEST_F(HeatMapTest, IsDrawnWithNumbersFromTheBottomUpAndNamesFromTheTopDown) {
  const test::TempDir dir;
  const std::vector<CellValues> cells{cell({{"recovery_median_s", 5}}), cell({})};
  map({{"clients", {"10", "20"}}, {"backlog", {"5"}}}, cells, "recovery_median_s")
      .write_picture_data(dir.file("."));
  EXPECT_EQ(test::read_file(dir.file("1.map")), "0 0 5 0 0\n0 1 NaN 0 1\n");
  map({{"jitter", {"none", "full"}}, {"backlog", {"5"}}}, cells, "recovery_median_s")
      .write_picture_data(dir.file("."));
  EXPECT_EQ(test::read_file(dir.file("1.map")), "0 1 5 0 0\n0 0 NaN 0 1\n");
  const auto facts = test::lines(test::read_file(dir.file("facts")));
  for (const char* line :
       {"maps = 1", "rows = 2", "y_tics = '(\"none\" 1, \"full\" 0)'", "x_title = 'backlog'",
        "scale_title = 'recovery_median_s'", "low = 4", "high = 6", "missing = 'never'"}) {
    EXPECT_THAT(facts, testing::Contains(line));
  }
}

TEST_F(HeatMapTest, SuggestsTheNearestColumn) {
  test::expect_refusals(
      [](const std::string& name) { check_show(name); },
      {{"success_shar", "did you mean success_share?"}, {"recovery_median_s", ""}});
}

}  // namespace
}  // namespace retrystorm
