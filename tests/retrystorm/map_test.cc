#include "retrystorm/map.h"

#include "study/cell_result.h"
#include "tests/support/facts.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// Of twenty runs.
CellResult down(double share, std::size_t undecided = 0) {
  CellResult cell;
  cell.runs = 20;
  cell.collapsed = static_cast<std::size_t>(20 * share);
  cell.undecided = undecided;
  cell.recovered = 20 - cell.collapsed - undecided;
  return cell;
}

class HeatMapTest : public ::testing::Test {
 protected:
  HeatMap map(std::vector<Axis> axes, const std::vector<CellResult>& cells) {
    return {Grid(std::move(axes)), cells};
  }

  std::string text(std::vector<Axis> axes, const std::vector<CellResult>& cells,
                   bool numbers = true) {
    std::ostringstream out;
    map(std::move(axes), cells).print(out, Style(), numbers);
    return out.str();
  }
};

TEST_F(HeatMapTest, SortsNumbersAndMarksOpenCells) {
  const std::vector<Axis> axes{{"outage-for", {"10", "5s"}}, {"max-retries", {"none", "4", "10"}}};
  const std::vector<CellResult> cells{down(1),    down(0.25), down(0.5),
                                      down(0.75), down(0),    down(0, 20)};
  EXPECT_THAT(text(axes, cells), HasSubstr("\n             max-retries\n"
                                           "outage-for   4  10  none\n"
                                           "5s           0  -+    75\n"
                                           "10s         25  50   100\n"));
  EXPECT_THAT(text(axes, cells, false), HasSubstr(" 5s  ·?▓\n             10s  ░▒█\n"));
  EXPECT_EQ(test::facts(map(axes, cells).where_down(0)), "map-from(option=max-retries, from=none)");
}

TEST_F(HeatMapTest, SaysFromWhereOnItIsDown) {
  const auto said = [this](const std::vector<double>& shares) {
    std::vector<CellResult> cells;
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
  const std::string all = text(axes, {down(0.1), down(0.2), down(0.3), down(0, 20)});
  EXPECT_THAT(all, HasSubstr("\nnone                10\nfull                20\ngrpc: "));
  EXPECT_THAT(all, HasSubstr("\nnone               30\nfull               -+\n"));
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
  const std::vector<CellResult> cells{down(0.25), down(0, 20)};
  map({{"clients", {"10", "20"}}, {"backlog", {"5"}}}, cells).write_picture_data(dir.file("."));
  EXPECT_EQ(test::read_file(dir.file("1.map")), "0 0 25 0 0\n0 1 NaN 1 1\n");
  map({{"jitter", {"none", "full"}}, {"backlog", {"5"}}}, cells).write_picture_data(dir.file("."));
  EXPECT_EQ(test::read_file(dir.file("1.map")), "0 1 25 0 0\n0 0 NaN 1 1\n");
  const auto facts = test::lines(test::read_file(dir.file("facts")));
  for (const char* line : {"maps = 1", "rows = 2", "y_tics = '(\"none\" 1, \"full\" 0)'",
                           "x_title = 'backlog'", "any_missing = 1"}) {
    EXPECT_THAT(facts, testing::Contains(line));
  }
}

}  // namespace
}  // namespace retrystorm
