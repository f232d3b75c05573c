#include "simulator/campaign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "simulator/options.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;
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
  CellTable table(grid, out, nowhere, "");
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
  EXPECT_DOUBLE_EQ(cell.amplification, 4);
  EXPECT_DOUBLE_EQ(cell.ok_lost, 300);
  EXPECT_EQ(cell.peak_concurrency, 900u);
}

TEST(CellTable, PrintsRowsInOrderHoweverTheyComeIn) {
  const Grid grid({{"backlog", {"5", "256"}}});
  std::ostringstream out;
  JsonLines nowhere("");
  CellTable table(grid, out, nowhere, "");
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
  EXPECT_THROW(CellTable(grid, out, nowhere, "/nonexistent/table.csv"), std::runtime_error);
}

}  // namespace
}  // namespace retrystorm
