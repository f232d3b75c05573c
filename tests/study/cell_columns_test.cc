
#include "common/output/json_lines.h"
#include "study/cell_result.h"
#include "study/rows.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using test::read_file;
using test::TempDir;

// What the files for programs have of a cell, below these labels.
struct Written {
  std::vector<std::string> csv;  // lines
  nlohmann::json row;
};

Written written(const CellResult& cell, const MoreColumns& more = {}) {
  const TempDir dir;
  JsonLines json(dir.file("json"));
  Rows rows("cell", cell_names({"backlog"}, more), "", LineFile(dir.file("csv")), json);
  rows.write(cell_values({"5"}, cell, more));
  json.finish();
  return {test::lines(read_file(dir.file("csv"))), test::read_json_lines(dir.file("json"))[0]};
}

TEST(CellResult, CountsVerdictsAndCensorsRunsThatNeverRecovered) {
  const auto run = [](Verdict verdict, std::optional<Duration> gone, std::optional<Duration> back,
                      double amplification, double lost, std::size_t peak) {
    return RunResult{.verdict = verdict,
                     .errors_gone = gone,
                     .time_to_recovery = back,
                     .amplification = amplification,
                     .ok_lost = lost,
                     .peak_concurrency = peak};
  };
  const CellResult cell = summarize({run(Verdict::kRecovered, 5s, 10s, 1, 100, 300),
                                     run(Verdict::kCollapsed, {}, {}, 9, 700, 900),
                                     run(Verdict::kRecovered, 0s, 5s, 2, 100, 200)});
  EXPECT_EQ(cell.runs, 3u);
  EXPECT_EQ(cell.collapsed, 1u);
  EXPECT_EQ(cell.errors_gone, 5s);
  EXPECT_EQ(cell.errors_gone_p90, std::nullopt);
  EXPECT_EQ(cell.time_to_recovery, 10s);
  EXPECT_EQ(cell.recovery_p90, std::nullopt);
  EXPECT_DOUBLE_EQ(cell.amplification, 4);
  EXPECT_DOUBLE_EQ(cell.ok_lost, 300);
  EXPECT_EQ(cell.peak_concurrency, 900u);
}

TEST(CellResult, CountsEachVerdictSeparately) {
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
TEST(CellResult, HasAWordInPlaceOfAShareOfRunsThatAreNotDecided) {
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

TEST(CellResult, HasNoShareOfDownRunsWithoutAVerdict) {
  EXPECT_FALSE(summarize({{.verdict = Verdict::kUndecided}}).down());
}

TEST(CellResult, CountsRunsWithoutAnOutageAsUpUnlessTheyCollapse) {
  const CellResult cell =
      summarize({{.verdict = Verdict::kNoOutage}, {.verdict = Verdict::kCollapsed}});
  EXPECT_EQ(cell.down()->value, 0.5);
  EXPECT_FALSE(cell.had_outage());
}

// A run that was up for fifteen seconds and went down again counts as one that never recovered.
TEST(CellResult, KeepsTheTimesOfARelapseOutOfTheMedians) {
  const CellResult cell = summarize({
      {.verdict = Verdict::kRecovered, .errors_gone = 5s, .time_to_recovery = 10s},
      {.verdict = Verdict::kRelapsed, .errors_gone = 0s, .time_to_recovery = 0s},
      {.verdict = Verdict::kRelapsed, .errors_gone = 0s, .time_to_recovery = 0s},
  });
  EXPECT_EQ(cell.time_to_recovery, std::nullopt);
  EXPECT_EQ(cell.errors_gone, std::nullopt);
}

TEST(CellColumns, AreThereForEachVerdict) {
  CellResult cell;
  cell.runs = 10, cell.recovered = 4, cell.relapsed = 3, cell.recovering = 2, cell.undecided = 0,
  cell.collapsed = 1;
  const auto [rows, row] = written(cell);
  EXPECT_TRUE(
      rows[0].starts_with("backlog,runs,recovered,relapsed,recovering,undecided,collapsed,"
                          "down,down_low,down_high,"));
  EXPECT_TRUE(rows[1].starts_with("5,10,4,3,2,0,1,0.4,0.16818,0.83182,")) << rows[1];
  EXPECT_EQ(row["relapsed"], 3);
}

TEST(Rows, BeginTheirCsvFileWithAComment) {
  const TempDir dir;
  JsonLines nowhere("");
  Rows rows("cell", cell_names({"backlog"}), "# what, seed 1", LineFile(dir.file("csv")), nowhere);
  rows.add_assumed("--rate=100, --timeout=2s");
  rows.begin();  // also without a row
  EXPECT_THAT(
      read_file(dir.file("csv")),
      testing::StartsWith("# what, seed 1, assumed: --rate=100, --timeout=2s\nbacklog,runs,"));
}

// Means over the runs that have the figure, and medians of the times.
TEST(CellColumns, HaveTheFiguresOfEachPhase) {
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

  const auto [rows, row] = written(cell, {.errors_by = true});
  EXPECT_TRUE(rows[1].ends_with(",,503:2.5 refused:1.0,"));
  const auto expected = nlohmann::json::parse(R"({
        "errors_by_during": {"503": 2.5, "refused": 1.0}, "errors_by_after": null,
        "success_before": null, "gave_up_before": null, "not_sent_before": null,
        "success_during": 0.5, "gave_up_during": 15.0, "not_sent_during": 0.0,
        "attempts_per_s_during": 200.0, "ok_per_s_during": 0.0, "timed_out_during": 7.0,
        "errors_during": 3.0, "request_p50_during_ms": 1000.0, "request_p99_during_ms": 2000.0,
        "request_p50_during_ms_high": 1000.0, "request_p99_during_ms_high": null,
        "success_after": 0.9})");
  for (const auto& [name, value] : expected.items()) EXPECT_EQ(row.at(name), value) << name;
}

TEST(CellColumns, AreOfProcessesOnlyIfThereAreAny) {
  CellResult cell;
  cell.runs = 1, cell.processes = 10, cell.process_rate = 9.87;
  for (const bool processes : {false, true}) {
    EXPECT_EQ(written(cell, {.processes = processes}).csv[1].ends_with(",10.0,9.87"), processes);
  }
}

TEST(CellColumns, AreOfReconnectsOnlyIfThereAreAny) {
  CellResult cell;
  cell.runs = 1, cell.back_share = 0.5, cell.all_back = 2500400us;
  for (const bool reconnects : {false, true}) {
    EXPECT_EQ(written(cell, {.reconnects = reconnects}).csv[1].ends_with(",0.5,2.5,"), reconnects);
  }
}

// One run says nothing about others.
TEST(CellColumns, HaveTheMeansOfEachKindOfClients) {
  const auto [rows, row] =
      written(summarize({{.clients = {{"app", 1, 2}, {"night-job", 0.5, 4}}},
                         {.clients = {{"app", 0.9, 4}, {"night-job", 0.7, 2}}}}),
              {.clients = {"app", "night-job", "gone"}});
  EXPECT_TRUE(
      rows[0].ends_with("clients_night_job_success_share,clients_night_job_amplification,"
                        "clients_gone_success_share,clients_gone_amplification"));
  EXPECT_TRUE(rows[1].ends_with("0.95,3.0,0.6,3.0,,"));
}

TEST(CellColumns, LeaveTheIntervalOfOneRunEmpty) {
  const auto cell = summarize({{.verdict = Verdict::kRecovered, .success_share = 0.5}});
  EXPECT_EQ(written(cell).row["success_share_low"], nullptr);
}

}  // namespace
}  // namespace retrystorm
