#include "simulator/campaign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "simulator/options.h"
#include "tests/support/temp_dir.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;
using test::read_file;
using test::TempDir;
using ::testing::HasSubstr;

Scenario short_scenario(std::size_t cell) {
  SimulatorOptions options;
  options.workload.clients = 100 * (cell + 1);
  options.outage_at = 10s;
  options.outage_for = 5s;
  options.observe = 20s;
  return make_scenario(options, 0);
}

std::string table_with(std::size_t threads, const std::function<bool()>& stop, bool& complete) {
  const Grid grid({{"clients", {"100", "200", "300", "400", "500"}}});
  std::ostringstream out;
  JsonLines nowhere("");
  CellTable table(grid, out, nowhere);
  complete = run_campaign(grid, {.runs = 7, .threads = threads, .seed = 3}, short_scenario, table,
                          stop, nullptr);
  return out.str();
}

TEST(Campaign, TellsTheSameWithAnyNumberOfThreads) {
  bool complete = false;
  const std::string one = table_with(
      1, [] { return false; }, complete);
  EXPECT_TRUE(complete);
  EXPECT_EQ(std::count(one.begin(), one.end(), '\n'), 6);
  EXPECT_EQ(table_with(
                4, [] { return false; }, complete),
            one);
  EXPECT_TRUE(complete);
}

TEST(Campaign, PrintsTheFinishedCellsWhenInterrupted) {
  bool complete = false;
  const std::string all = table_with(
      1, [] { return false; }, complete);
  int asked = 0;
  const std::string some = table_with(
      1, [&asked] { return ++asked > 40; }, complete);
  EXPECT_FALSE(complete);
  EXPECT_LT(some.size(), all.size());
  EXPECT_EQ(all.substr(0, some.size()), some);
  EXPECT_GT(std::count(some.begin(), some.end(), '\n'), 1);
}

TEST(Campaign, CountsVerdictsAndCensorsWhatNeverRecovered) {
  const std::vector<RunResult> runs{{.verdict = Verdict::kRecovered,
                                     .errors_gone = 5s,
                                     .time_to_recovery = 10s,
                                     .amplification = 1,
                                     .ok_lost = 100,
                                     .peak_concurrency = 300},
                                    {.verdict = Verdict::kCollapsed,
                                     .errors_gone = {},
                                     .time_to_recovery = {},
                                     .amplification = 9,
                                     .ok_lost = 700,
                                     .peak_concurrency = 900},
                                    {.verdict = Verdict::kRecovered,
                                     .errors_gone = 0s,
                                     .time_to_recovery = 5s,
                                     .amplification = 2,
                                     .ok_lost = 100,
                                     .peak_concurrency = 200}};
  const CellResult cell = summarize(runs);
  EXPECT_EQ(cell.runs, 3u);
  EXPECT_EQ(cell.collapsed, 1u);
  EXPECT_EQ(cell.errors_gone_median, 5s);
  EXPECT_EQ(cell.errors_gone_p90, std::nullopt);
  EXPECT_EQ(cell.recovery_median, 10s);
  EXPECT_EQ(cell.recovery_p90, std::nullopt);
  EXPECT_DOUBLE_EQ(cell.amplification.value, 4);
  EXPECT_DOUBLE_EQ(cell.ok_lost, 300);
  EXPECT_EQ(cell.peak_concurrency, 900u);
}

TEST(Campaign, TellsTheVerdictsApart) {
  const auto with = [](Verdict verdict) {
    return RunResult{.verdict = verdict, .errors_gone = 0s, .time_to_recovery = 5s};
  };
  const CellResult cell =
      summarize({with(Verdict::kRecovered), with(Verdict::kRelapsed), with(Verdict::kRelapsed),
                 with(Verdict::kRecovering), with(Verdict::kUndecided), with(Verdict::kCollapsed)});
  EXPECT_EQ(cell.recovered, 1u);
  EXPECT_EQ(cell.relapsed, 2u);
  EXPECT_EQ(cell.recovering, 1u);
  EXPECT_EQ(cell.undecided, 1u);
  EXPECT_EQ(cell.collapsed, 1u);
}

// A run that was up for fifteen seconds and died again took for ever to recover.
TEST(Campaign, KeepsTheTimesOfARelapseOutOfTheMedians) {
  const CellResult cell = summarize({
      {.verdict = Verdict::kRecovered, .errors_gone = 5s, .time_to_recovery = 10s},
      {.verdict = Verdict::kRelapsed, .errors_gone = 0s, .time_to_recovery = 0s},
      {.verdict = Verdict::kRelapsed, .errors_gone = 0s, .time_to_recovery = 0s},
  });
  EXPECT_EQ(cell.recovery_median, std::nullopt);
  EXPECT_EQ(cell.errors_gone_median, std::nullopt);
}

TEST(CellTable, WritesAColumnForEachVerdict) {
  const TempDir dir;
  const Grid grid(std::vector<Axis>{{"backlog", {"5"}}});
  std::ostringstream out;
  JsonLines json(dir.file("json"));
  CellTable table(grid, out, json, {.csv = dir.file("csv"), .markdown = dir.file("md")});
  table.add(
      0,
      {.runs = 10, .recovered = 4, .relapsed = 3, .recovering = 2, .undecided = 0, .collapsed = 1});
  EXPECT_THAT(out.str(), HasSubstr("recovered  relapsed  recovering  undecided  collapsed"));
  EXPECT_THAT(out.str(), HasSubstr("40.0%     30.0%       20.0%       0.0%      10.0%"));
  EXPECT_THAT(read_file(dir.file("csv")),
              HasSubstr("backlog,runs,recovered,relapsed,recovering,undecided,collapsed,"
                        "collapsed_low"));
  EXPECT_THAT(read_file(dir.file("csv")), HasSubstr("\n5,10,4,3,2,0,1,"));
  EXPECT_THAT(
      read_file(dir.file("json")),
      HasSubstr(R"("recovered":4,"relapsed":3,"recovering":2,"undecided":0,"collapsed":1)"));
}

TEST(CellTable, WritesMarkdownForPeople) {
  const TempDir dir;
  const Grid grid(std::vector<Axis>{{"outage-for", {"5s"}}});
  std::ostringstream out;
  JsonLines nowhere("");
  CellTable table(grid, out, nowhere, {.csv = "", .markdown = dir.file("md")});
  table.add(0, {.runs = 10, .recovered = 9, .collapsed = 1, .success_share = {0.9987, {}}});
  const auto lines = test::lines(read_file(dir.file("md")));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0], testing::StartsWith("| outage-for | runs | recovered |"));
  EXPECT_THAT(lines[2],
              AllOf(testing::StartsWith("| 5s | 10 | 90.0% | 0.0% |"), HasSubstr("| 99.87% |")));
  for (const std::string& line : lines) {
    EXPECT_EQ(std::count(line.begin(), line.end(), '|'),
              std::count(lines[0].begin(), lines[0].end(), '|'));
  }
}

// Of one run nothing can be said about others.
TEST(CellTable, LeavesTheIntervalOfOneRunEmpty) {
  const TempDir dir;
  const Grid grid(std::vector<Axis>{{"backlog", {"5"}}});
  std::ostringstream out;
  JsonLines json(dir.file("json"));
  CellTable table(grid, out, json);
  table.add(0, summarize({{.verdict = Verdict::kRecovered, .success_share = 0.5}}));
  EXPECT_THAT(read_file(dir.file("json")),
              HasSubstr(R"("success_share":0.5,"success_share_low":null)"));
}

TEST(CellTable, PrintsRowsInOrderHoweverTheyComeIn) {
  const Grid grid({{"backlog", {"5", "256"}}});
  std::ostringstream out;
  JsonLines nowhere("");
  CellTable table(grid, out, nowhere);
  const std::size_t header = out.str().size();
  table.add(1, {.runs = 1});
  EXPECT_EQ(out.str().size(), header);
  table.add(0, {.runs = 1});
  const std::string rows = out.str().substr(header);
  EXPECT_LT(rows.find(" 5 "), rows.find(" 256 "));
}

TEST(CellTable, RefusesAFileThatCannotBeWritten) {
  const Grid grid({});
  std::ostringstream out;
  JsonLines nowhere("");
  EXPECT_THROW(CellTable(grid, out, nowhere, {.csv = "/nonexistent/table.csv"}),
               std::runtime_error);
  EXPECT_THROW(CellTable(grid, out, nowhere, {.markdown = "/nonexistent/table.md"}),
               std::runtime_error);
}

}  // namespace
}  // namespace retrystorm
