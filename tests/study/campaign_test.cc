#include "study/campaign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "simulate/options.h"
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

TEST(Campaign, GivesTheSameWithAnyNumberOfThreads) {
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

// The first cell takes the longest.
TEST(Campaign, NumbersTheResultsThatItPasses) {
  const Grid grid({{"clients", {"500", "100", "200"}}});
  const auto scenario = [](std::size_t cell) { return short_scenario(cell == 0 ? 4 : cell - 1); };
  const auto lost_of = [&](std::size_t threads) {
    std::ostringstream out;
    JsonLines nowhere("");
    CellTable table(grid, out, nowhere);
    std::map<std::size_t, double> found;
    run_campaign(grid, {.runs = 1, .threads = threads, .seed = 3}, scenario, table, nullptr,
                 nullptr,
                 [&](std::size_t cell, const CellResult& result) { found[cell] = result.ok_lost; });
    return found;
  };
  EXPECT_EQ(lost_of(3), lost_of(1));
  EXPECT_THAT(lost_of(1), testing::SizeIs(3));
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

TEST(Campaign, CountsVerdictsAndCensorsRunsThatNeverRecovered) {
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

TEST(Campaign, CountsEachVerdictSeparately) {
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
  // 3 of the 5 that have a verdict: Wilson's interval begins at 23.07 %. A fourth may still go down: that of
  // 4 of 5 ends at 96.38 %.
  ASSERT_TRUE(cell.down());
  EXPECT_EQ(cell.down()->value, 0.6);
  EXPECT_NEAR(cell.down()->interval.low, 0.23072, 1e-5);
  EXPECT_NEAR(cell.down()->interval.high, 0.96378, 1e-5);
}

// Such a share would read as if none were down.
TEST(Campaign, HasAWordInPlaceOfAShareOfRunsThatAreNotDecided) {
  const auto with = [](std::initializer_list<Verdict> verdicts) {
    std::vector<RunResult> runs;
    for (const Verdict each : verdicts) runs.push_back({.verdict = each});
    return summarize(runs);
  };
  using enum Verdict;
  EXPECT_EQ(with({kRecovering, kRecovering}).unsettled(), "recovering");
  EXPECT_EQ(with({kRecovering, kUndecided}).unsettled(), "recovering");
  EXPECT_EQ(with({kUndecided, kUndecided}).unsettled(), "undecided");
  EXPECT_EQ(with({kRecovering, kCollapsed}).unsettled(), "");
  EXPECT_EQ(with({kRecovering, kRecovered}).unsettled(), "");
  EXPECT_EQ(with({kNoOutage}).unsettled(), "");
  // The median of three is the second. The first to be back counts first, the one that is down last.
  EXPECT_EQ(with({kRecovering, kRecovering, kCollapsed}).not_back(0.5), "not yet");
  EXPECT_EQ(with({kRecovering, kCollapsed, kCollapsed}).not_back(0.5), "never");
  EXPECT_EQ(with({kRecovering, kRecovering, kCollapsed}).not_back(0.9), "never");
  EXPECT_EQ(with({kUndecided, kUndecided}).not_back(0.5), "-");
}

TEST(Campaign, HasNoShareOfDownRunsWithoutAVerdict) {
  EXPECT_FALSE(summarize({{.verdict = Verdict::kUndecided}}).down());
}

TEST(Campaign, CountsRunsWithoutAnOutageAsUpUnlessTheyCollapse) {
  const CellResult cell =
      summarize({{.verdict = Verdict::kNoOutage}, {.verdict = Verdict::kCollapsed}});
  EXPECT_EQ(cell.down()->value, 0.5);
  EXPECT_FALSE(cell.had_outage());
}

// A run that was up for fifteen seconds and went down again counts as one that never recovered.
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
  CellTable table(grid, out, json, TableFiles{.csv = dir.file("csv"), .markdown = dir.file("md")});
  table.add(
      0,
      {.runs = 10, .recovered = 4, .relapsed = 3, .recovering = 2, .undecided = 0, .collapsed = 1});
  json.finish();
  EXPECT_THAT(
      out.str(),
      HasSubstr("recovered  relapsed  recovering  undecided  collapsed    down  95% interval"));
  EXPECT_THAT(out.str(),
              HasSubstr("40.0%     30.0%       20.0%       0.0%      10.0%   40.0%    16.8-83.2%"));
  EXPECT_THAT(read_file(dir.file("csv")),
              HasSubstr("backlog,runs,recovered,relapsed,recovering,undecided,collapsed,"
                        "down,down_low,down_high,"));
  EXPECT_THAT(read_file(dir.file("csv")), HasSubstr("\n5,10,4,3,2,0,1,0.4,0.16818,0.83182,"));
  EXPECT_THAT(
      read_file(dir.file("json")),
      HasSubstr(R"("recovered":4,"relapsed":3,"recovering":2,"undecided":0,"collapsed":1)"));
}

TEST(CellTable, BeginsItsCsvFileWithAComment) {
  const TempDir dir;
  const Grid grid(std::vector<Axis>{{"backlog", {"5"}}});
  std::ostringstream out;
  JsonLines nowhere("");
  CellTable table(grid, out, nowhere, OpenTableFiles({.csv = dir.file("csv")}, "# what, seed 1"));
  table.add_assumed("--rate=100, --timeout=2s");
  table.flush();  // also without a row
  EXPECT_THAT(
      read_file(dir.file("csv")),
      testing::StartsWith("# what, seed 1, assumed: --rate=100, --timeout=2s\nbacklog,runs,"));
  EXPECT_THAT(out.str(), testing::Not(HasSubstr("#")));
}

// Means over the runs that have the figure, and medians of the times.
TEST(CellTable, HasTheFiguresOfEachPhase) {
  RunResult one{.verdict = Verdict::kRecovered}, other{.verdict = Verdict::kRecovered};
  one.phases[1] = {.success = 0.5,
                   .gave_up = 10,
                   .not_sent = 0,
                   .attempts_per_s = 200,
                   .ok_per_s = 0,
                   .timed_out = 7,
                   .errors = 3,
                   .request_p50 = TimeBound{.time = 1s},
                   .request_p99 = TimeBound{.time = 2s, .or_more = true},
                   .errors_by = std::vector<double>(kErrorKinds.size())};
  one.phases[1].errors_by[5] = 2;   // 503
  one.phases[1].errors_by[10] = 1;  // refused
  other.phases[1] = one.phases[1];
  other.phases[1].gave_up = 20;
  other.phases[1].errors_by[5] = 3;
  one.phases[2].success = 0.9;  // in the other run no request began after the outage
  const CellResult cell = summarize({one, other});
  EXPECT_EQ(cell.phases[0].success, std::nullopt);
  EXPECT_EQ(cell.phases[1].gave_up, 15);
  EXPECT_EQ(cell.phases[2].success, 0.9);

  const TempDir dir;
  const Grid grid(std::vector<Axis>{{"backlog", {"5"}}});
  std::ostringstream out;
  JsonLines json(dir.file("json"));
  CellTable table(grid, out, json, OpenTableFiles({.csv = dir.file("csv"), .markdown = ""}),
                  {.errors_by = true});
  table.add(0, cell);
  json.finish();
  const auto lines = test::lines(out.str());
  EXPECT_THAT(
      lines[0],
      HasSubstr("  success during  given up during  not sent during  attempts/s during  OK/s during"
                "  timed out during  errors during  req. p50 during  req. p99 during"
                "  success after  given up after"));
  EXPECT_THAT(
      lines[1],
      HasSubstr("          50.00%             15.0              0.0              200.0          0.0"
                "               7.0            3.0           1000ms          >2000ms"
                "         90.00%               -"));
  EXPECT_TRUE(lines[0].ends_with("  errors by before  errors by during  errors by after"));
  EXPECT_TRUE(lines[1].ends_with("                 -  503:2.5 refused:1.0                -"));
  EXPECT_TRUE(test::lines(read_file(dir.file("csv")))[1].ends_with(",,503:2.5 refused:1.0,"));
  EXPECT_THAT(read_file(dir.file("json")),
              HasSubstr(R"("errors_by_during":{"503":2.5,"refused":1.0},"errors_by_after":null)"));
  EXPECT_THAT(read_file(dir.file("json")),
              HasSubstr(R"("success_before":null,"gave_up_before":null,"not_sent_before":null,)"));
  EXPECT_THAT(read_file(dir.file("json")),
              HasSubstr(R"("success_during":0.5,"gave_up_during":15.0,"not_sent_during":0.0,)"
                        R"("attempts_per_s_during":200.0,"ok_per_s_during":0.0,)"
                        R"("timed_out_during":7.0,"errors_during":3.0,)"
                        R"("request_p50_during_ms":1000.0,"request_p99_during_ms":2000.0,)"
                        R"("request_p50_during_ms_high":1000.0,"request_p99_during_ms_high":null,)"
                        R"("success_after":0.9,)"));
}

TEST(CellTable, WritesMarkdownForPeople) {
  const TempDir dir;
  const Grid grid(std::vector<Axis>{{"outage-for", {"5s"}}});
  std::ostringstream out;
  JsonLines nowhere("");
  CellTable table(grid, out, nowhere, TableFiles{.csv = "", .markdown = dir.file("md")});
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

TEST(CellTable, HasColumnsOfProcessesOnlyIfThereAreAny) {
  const Grid grid(std::vector<Axis>{{"backlog", {"5"}}});
  JsonLines nowhere("");
  for (const bool processes : {false, true}) {
    const TempDir dir;
    std::ostringstream out;
    CellTable table(grid, out, nowhere, TableFiles{.csv = dir.file("csv")},
                    {.processes = processes});
    table.add(0, {.runs = 1, .processes = 10, .process_rate = 9.87});
    const auto lines = test::lines(out.str());
    EXPECT_EQ(lines[0].ends_with("  processes  req/s each"), processes);
    EXPECT_EQ(lines[1].ends_with("         10         9.9"), processes);
    EXPECT_EQ(test::lines(read_file(dir.file("csv")))[1].ends_with(",10.0,9.87"), processes);
  }
}

TEST(CellTable, HasColumnsOfReconnectsOnlyIfThereAreAny) {
  const Grid grid(std::vector<Axis>{{"backlog", {"5"}}});
  JsonLines nowhere("");
  for (const bool reconnects : {false, true}) {
    const TempDir dir;
    std::ostringstream out;
    CellTable table(grid, out, nowhere, TableFiles{.csv = dir.file("csv")},
                    {.reconnects = reconnects});
    table.add(0, {.runs = 1, .back_share = 0.5, .all_back_median = 2500400us});
    const auto lines = test::lines(out.str());
    EXPECT_EQ(lines[0].ends_with("  connected  all after    all p90"), reconnects);
    EXPECT_EQ(lines[1].ends_with("     50.00%       2.5s      never"), reconnects);
    EXPECT_EQ(test::lines(read_file(dir.file("csv")))[1].ends_with(",0.5,2.5,"), reconnects);
  }
}

// One run says nothing about others.
TEST(CellTable, HasTheMeansOfEachKindOfClients) {
  const Grid grid({});
  const test::TempDir dir;
  std::ostringstream out;
  JsonLines nowhere("");
  CellTable table(grid, out, nowhere, TableFiles{.csv = dir.file("csv")},
                  {.clients = {"app", "night-job", "gone"}});
  table.add(0, summarize({{.clients = {{"app", 1, 2}, {"night-job", 0.5, 4}}},
                          {.clients = {{"app", 0.9, 4}, {"night-job", 0.7, 2}}}}));
  EXPECT_THAT(out.str(), HasSubstr("app success  app amplif."));
  EXPECT_THAT(out.str(), HasSubstr("95.00%         3.00"));
  EXPECT_THAT(test::read_file(dir.file("csv")),
              HasSubstr("clients_night_job_success_share,clients_night_job_amplification,"
                        "clients_gone_success_share,clients_gone_amplification\n"));
  EXPECT_THAT(test::read_file(dir.file("csv")), testing::EndsWith("0.95,3.0,0.6,3.0,,\n"));
}

TEST(CellTable, LeavesTheIntervalOfOneRunEmpty) {
  const TempDir dir;
  const Grid grid(std::vector<Axis>{{"backlog", {"5"}}});
  std::ostringstream out;
  JsonLines json(dir.file("json"));
  CellTable table(grid, out, json);
  table.add(0, summarize({{.verdict = Verdict::kRecovered, .success_share = 0.5}}));
  json.finish();
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

// The terminal gets some columns, and the file gets all of them.
std::string fitted(const std::vector<Axis>& axes, const std::vector<CellResult>& cells,
                   const std::string& csv = "") {
  const Grid grid(axes);
  std::ostringstream out;
  JsonLines nowhere("");
  CellTable table(grid, out, nowhere, TableFiles{.csv = csv}, {}, CellTable::Print::kFitted);
  for (std::size_t i = 0; i < cells.size(); ++i) table.add(i, cells[i]);
  EXPECT_EQ(out.str(), "");
  table.flush();
  return out.str();
}

CellResult a_cell(std::size_t recovered, std::size_t collapsed, double amplification) {
  CellResult cell{.runs = recovered + collapsed, .recovered = recovered, .collapsed = collapsed};
  cell.recovery_median = collapsed > recovered ? std::nullopt : std::optional(Duration(5s));
  cell.amplification.value = amplification;
  cell.request_p99 = TimeBound{.time = 20937500us};
  for (PhaseResult& phase : cell.phases) {
    phase = {.success = 0.5, .attempts_per_s = 100, .ok_per_s = 98.76};
  }
  return cell;
}

TEST(FittedTable, HasARowForEachCellAndSaysWhatIsTheSame) {
  const TempDir dir;
  EXPECT_EQ(
      fitted({{"strategy", {"fixed", "exponential"}}, {"backlog", {"5"}}},
             {a_cell(0, 20, 5.25), a_cell(20, 0, 1.4)}, dir.file("csv")),
      "               down                back  attempts\n"
      "strategy      share         95 %  after  /request\n"
      "fixed        100.0%  83.9-100.0%  never      5.25\n"
      "exponential    0.0%    0.0-16.1%     5s      1.40\n"
      "the same in all rows: backlog 5, success in the outage 50.00%, success after it 50.00%,\n"
      "  OK/s after the outage 98.8, request p99 20.9s\n");
  EXPECT_THAT(test::csv_lines(dir.file("csv")).front(),
              HasSubstr("strategy,backlog,runs,recovered,"));
}

TEST(FittedTable, SaysWhatItsFiguresLeaveOutOfRowsThatArePartlyDown) {
  const std::string rows =
      fitted({{"strategy", {"fixed", "exponential"}}}, {a_cell(15, 5, 5.25), a_cell(20, 0, 1.4)});
  EXPECT_THAT(rows, HasSubstr("\nrequest p99 is a median of the runs, longer in those that are "
                              "down: strategy=fixed\n"));
  EXPECT_THAT(rows, Not(HasSubstr("without any outage")));
  CellResult calm = a_cell(0, 5, 5.25);
  for (PhaseResult& phase : calm.phases) phase = {};
  calm.no_outage = 15;
  calm.runs = 20;
  EXPECT_THAT(fitted({{"strategy", {"fixed", "exponential"}}}, {calm, a_cell(20, 0, 1.4)}),
              HasSubstr("\ndown without any outage, so more often in longer runs (--observe): "
                        "strategy=fixed\n"));
}

TEST(FittedTable, PrintsOneCellAsAList) {
  CellResult cell = a_cell(19, 1, 1.4);
  cell.recovery_p90 = 15s;
  cell.request_p50 = TimeBound{.time = 100ms};
  cell.request_p99 = TimeBound{.time = 58s, .or_more = true};
  cell.success_share.value = 0.9811;
  cell.gave_up = 12;
  EXPECT_EQ(fitted({}, {cell}),
            "runs              20: 19 recovered, 1 collapsed\n"
            "down at the end   5.0% (95 % interval 0.9-23.6%)\n"
            "back after        5s, 90 % of the runs after 15s\n"
            "success           after the outage 50.00%, in it 50.00%, in the whole run 98.11%\n"
            "attempts/request  1.40\n"
            "OK/s              after the outage 98.8, before it 98.8\n"
            "request time      p50 100ms, p99 >58s (medians; longer in the runs that are down)\n"
            "given up          12\n");
}

TEST(FittedTable, NamesTheCellsThatAreStillRecovering) {
  CellResult waits = a_cell(0, 0, 1.1), some = a_cell(12, 1, 1.4);
  waits.runs = waits.recovering = some.runs = 20;
  some.recovering = 7;
  waits.recovery_median.reset();
  waits.to_watch = 6min;
  const std::string rows = fitted({{"strategy", {"fixed", "exponential"}}}, {waits, some});
  EXPECT_THAT(rows, HasSubstr("\nfixed        recovering          -  not yet "));
  EXPECT_THAT(rows, HasSubstr("\nexponential        5.0%"));
  EXPECT_THAT(rows,
              testing::EndsWith("\nstill recovering (a longer --observe decides): strategy=fixed "
                                "20 of 20 (--observe=6m),\n  strategy=exponential 7 of 20\n"));
  const std::string list = fitted({}, {waits});
  EXPECT_THAT(list, HasSubstr("\ndown at the end   recovering\nback after        not yet\n"));
  EXPECT_THAT(list, testing::EndsWith("\nstill recovering (a longer --observe decides): 20 of 20 "
                                      "(--observe=6m)\n"));
}

TEST(FittedTable, SaysWhatIsNotDoneAtTheEnd) {
  RunResult run{.verdict = Verdict::kRecovered};
  EXPECT_THAT(fitted({}, {summarize({run, run})}), Not(HasSubstr("the end,")));
  run.queue_wait = 55s;
  run.unfinished = 0.25;
  const std::string list = fitted({}, {summarize({run, run})});
  EXPECT_THAT(list, HasSubstr("\n                  the whole run leaves out the requests under way "
                              "at its end that have not failed,\n                  25.00%\n"));
  EXPECT_THAT(list, testing::EndsWith("\nrecovered, but the queue is not empty at the end: 2 of 2 "
                                      "(a request waits for up to 55s)\n"));
}

TEST(FittedTable, SaysThatOkPerSecondAreBackInVain) {
  RunResult run{.verdict = Verdict::kRecovered, .unfinished = 0.88, .never_sent = 0.87};
  run.phases[2].success = 0.0;
  EXPECT_THAT(fitted({}, {summarize({run, run})}),
              HasSubstr("\n                  OK/s are back, but most requests fail or are not "
                        "answered by the end\n                  87.00% of the requests are never "
                        "sent: the clients' own queue grows\n"));
  const CellResult in_vain = summarize({run, run});
  EXPECT_THAT(fitted({{"rate", {"5", "1000"}}}, {a_cell(2, 0, 1), in_vain}),
              HasSubstr("\nback, but most requests fail or are not answered (success after the "
                        "outage): rate=1000 0.00%\n"));
  RunResult unknown = run;
  unknown.verdict = Verdict::kUndecided;
  EXPECT_THAT(fitted({}, {summarize({unknown, unknown})}), Not(HasSubstr("OK/s are back")));
  run.phases[2].success = 0.9;
  EXPECT_THAT(fitted({}, {summarize({run, run})}), Not(HasSubstr("but most")));
}

TEST(FittedTable, SaysThatAJobIsNotDone) {
  const RunResult open{.unfinished = 0.966, .calls = 2000, .calls_done = 68, .observed = 5s};
  const RunResult done{.calls = 2000, .calls_done = 2000, .observed = 38s, .makespan = 38s};
  EXPECT_THAT(
      fitted({}, {summarize({open, open})}),
      HasSubstr("\nmakespan          never, 0 of 2 runs done within 5s (68 of 2,000 calls)\n"));
  const std::string rows =
      fitted({{"time-limit", {"5s", "60s"}}}, {summarize({open, open}), summarize({done, done})});
  EXPECT_THAT(rows, HasSubstr("\n5s          not done"));
  EXPECT_THAT(rows, HasSubstr("\n60s              38s"));
  EXPECT_THAT(rows, HasSubstr("\nnot done, --time-limit: time-limit=5s 0 of 2 runs done within 5s "
                              "(68 of 2,000 calls)\n"));
}

TEST(FittedTable, SaysThatRunsDoNotDiffer) {
  RunResult run{.verdict = Verdict::kRecovered, .ok_lost = 7};
  EXPECT_FALSE(summarize({run}).alike);
  CellResult alike = summarize({run, run, run});
  EXPECT_TRUE(alike.alike);
  EXPECT_THAT(fitted({}, {alike}),
              HasSubstr("\n                  3 runs alike: nothing random changed a figure\n"));
  const std::vector<Axis> axes{{"backlog", {"5", "6"}}};
  EXPECT_THAT(fitted(axes, {alike, alike}),
              testing::EndsWith("in each row 3 runs alike: nothing random changed a figure\n"));
  RunResult other = run;
  other.phases[2].errors = 1;
  const CellResult unlike = summarize({run, other});
  EXPECT_FALSE(unlike.alike);
  EXPECT_THAT(fitted(axes, {unlike, alike}),
              testing::EndsWith("\nruns alike, nothing random changed a figure, at: backlog=6\n"));
}

TEST(FittedTable, SaysWhereNothingWasRetried) {
  RunResult run{.verdict = Verdict::kRecovered, .gave_up = 9, .nothing_retried = 9};
  run.not_retryable.statuses.set(500);
  const CellResult none = summarize({run, run});
  EXPECT_THAT(fitted({}, {none}),
              HasSubstr("given up          9.0\n"
                        "                  nothing was retried: 9 were not retryable (500)\n"));
  const CellResult some = summarize({run, {.verdict = Verdict::kRecovered}});
  EXPECT_THAT(fitted({{"strategy", {"grpc", "y"}}}, {none, some}),
              HasSubstr("\nnothing was retried, these failures are not retryable: "
                        "strategy=grpc (500)\n"));
}

// Of clients that wait for their answers: an open arrival's place has no owner who waits.
TEST(FittedTable, ShowsTheClientThatWaitsMostWhereARateIsLimited) {
  SimulationResult run{};
  run.summary.longest_without_ok = 7s;
  EXPECT_EQ(result_of(run).longest_without_ok, std::nullopt);
  run.summary.capacity.emplace();
  const RunResult closed = result_of(run);
  EXPECT_EQ(closed.longest_without_ok, 7s);
  run.summary.longest_without_ok = 9s;
  const CellResult cell = summarize({closed, result_of(run), result_of(run)});
  EXPECT_EQ(cell.longest_without_ok, 9s);  // the median
  run.summary.arrival_rate = 5;
  EXPECT_EQ(result_of(run).longest_without_ok, std::nullopt);
  EXPECT_THAT(fitted({}, {cell}),
              HasSubstr("\nlongest without   9s without an OK, the client that waited most\n"));
  EXPECT_THAT(fitted({{"backlog", {"5", "6"}}}, {cell, summarize({closed})}),
              AllOf(HasSubstr("without OK\n"), HasSubstr(" 9s\n"), HasSubstr(" 7s\n")));
}

TEST(FittedTable, FitsAHundredColumns) {
  const std::string name(60, 'x');
  const std::string printed =
      fitted({{"strategy", {name, "y"}}, {"backlog", {"5", "6"}}},
             {a_cell(1, 2, 1), a_cell(3, 0, 2), a_cell(2, 2, 3), a_cell(5, 5, 4)});
  for (const std::string& line : test::lines(printed)) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_THAT(printed, HasSubstr("\nno room for (see --wide): "));
}

TEST(CellTable, RefusesAFileThatCannotBeWritten) {
  const Grid grid({});
  std::ostringstream out;
  JsonLines nowhere("");
  EXPECT_THROW(CellTable(grid, out, nowhere, TableFiles{.csv = "/nonexistent/table.csv"}),
               std::runtime_error);
  EXPECT_THROW(CellTable(grid, out, nowhere, TableFiles{.markdown = "/nonexistent/table.md"}),
               std::runtime_error);
}

// Without an outage there are five verdicts that no run can have, and times of what never was.
TEST(CellTable, HasOkAndTimesInPlaceOfVerdictsWithoutAnOutage) {
  const Grid grid(std::vector<Axis>{{"rate", {"100"}}});
  std::ostringstream out;
  JsonLines nowhere("");
  CellTable table(grid, out, nowhere, TableFiles(), {.outage = false, .errors_by = true});
  table.add(0, {.runs = 1, .no_outage = 1, .ok_per_s = 99.9});
  for (const char* head : {"down", "success", "OK/s", "req. p50", "req. p99"}) {
    EXPECT_THAT(out.str(), HasSubstr(head));
  }
  for (const char* head : {"recover", "relapsed", "undecided", "collapsed", "gone", "OK lost",
                           "before", "during", "after"}) {
    EXPECT_THAT(out.str(), testing::Not(HasSubstr(head)));
  }
  EXPECT_THAT(out.str(), HasSubstr("99.9"));
}

}  // namespace
}  // namespace retrystorm
