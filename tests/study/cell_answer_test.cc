#include "study/cell_answer.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

CellResult cell_of(std::size_t recovered, std::size_t collapsed, std::size_t recovering = 0) {
  CellResult cell;
  cell.runs = recovered + collapsed + recovering;
  cell.recovered = recovered, cell.recovering = recovering, cell.collapsed = collapsed;
  if (recovered > collapsed + recovering) cell.time_to_recovery = 5s;
  for (PhaseResult& phase : cell.phases) {
    phase = {.success = 0.95, .attempts_per_s = 100, .ok_per_s = 98};
  }
  return cell;
}

TEST(CellAnswer, IsOfMostRuns) {
  EXPECT_EQ(answer_of(cell_of(20, 0)).headline.id, "runs-all-back");
  EXPECT_EQ(answer_of(cell_of(20, 0)).tone, Tone::kGood);
  EXPECT_EQ(answer_of(cell_of(19, 1)).headline.id, "runs-back");
  EXPECT_EQ(answer_of(cell_of(19, 1)).tone, Tone::kDoubt);
  CellResult down = cell_of(0, 20);  // it answers most all the same
  EXPECT_EQ(answer_of(down).headline.id, "runs-all-overloaded");
  down.phases.back().success = 0;
  EXPECT_EQ(answer_of(down).headline.id, "runs-all-down");
  EXPECT_EQ(answer_of(cell_of(1, 19)).tone, Tone::kBad);
  EXPECT_EQ(answer_of(cell_of(5, 0, 15)).headline.id, "runs-not-back");
  CellResult undecided;
  undecided.runs = undecided.undecided = 5;
  EXPECT_EQ(answer_of(undecided).headline.id, "runs-undecided");
}

// Nobody knows his load to a tenth: if that turns the answer, it is not green.
TEST(CellAnswer, IsOnlyJustWhereATenthTurnsIt) {
  for (const CellResult& cell : {cell_of(20, 0), cell_of(0, 20)}) {
    const RunAnswer answer = answer_of(cell, true);
    EXPECT_EQ(answer.tone, Tone::kDoubt);
    EXPECT_EQ(answer.headline.id, "only-just");
  }
}

TEST(CellAnswer, HasRemarksAboutFiguresThatSayLess) {
  EXPECT_TRUE(remarks_of(cell_of(20, 0)).empty());
  EXPECT_TRUE(says(remarks_of(cell_of(5, 0, 15)), "remark-recovering"));
  CellResult cell = cell_of(20, 0);
  cell.phases[2].success = 0.1;
  EXPECT_TRUE(says(remarks_of(cell), "remark-in-vain"));
  EXPECT_EQ(answer_of(cell).headline.id, "but-after");
  cell = cell_of(20, 0);
  cell.nothing_retried = 3;
  EXPECT_TRUE(says(remarks_of(cell), "remark-not-retried"));
  cell = CellResult();
  cell.runs = cell.no_outage = cell.jobs = 4, cell.jobs_done = 1, cell.observed = 1h;
  EXPECT_TRUE(says(remarks_of(cell), "remark-calls"));
  EXPECT_EQ(answer_of(cell).headline.id, "runs-job-open");
  cell = cell_of(20, 0);
  cell.killed = 1.5, cell.killed_busy = 0;
  EXPECT_TRUE(says(remarks_of(cell), "remark-probe-kills"));
}

TEST(CellAnswer, OfSeveralRowsIsATable) {
  std::ostringstream out;
  const std::vector<AnsweredRow> rows{{{"fixed"}, cell_of(0, 20)},
                                      {{"exponential"}, cell_of(20, 0)}};
  EXPECT_EQ(print(out, answers_of({"strategy"}, rows), Style{.width = 100}), 0u);
  EXPECT_EQ(out.str(),
            "                stays   back  answered in  answered     attempts\n"
            "strategy         down  after   the outage  after it  per request\n"
            "fixed        20 of 20  never         95 %      95 %            1\n"
            "exponential         0    5 s         95 %      95 %            1\n");
  const Statements summary = summary_of({"fixed", "exponential"}, rows);
  EXPECT_TRUE(says(summary, "rows-one-down"));
  EXPECT_TRUE(says(summary, "zero-may-be"));
}

// Those of the least interest go first, and how many is said.
TEST(CellAnswer, LeavesOutColumnsWhereThereIsNoRoom) {
  std::ostringstream out;
  const std::vector<AnsweredRow> rows{{{"fixed"}, cell_of(0, 20)},
                                      {{"exponential"}, cell_of(20, 0)}};
  EXPECT_EQ(print(out, answers_of({"strategy"}, rows), Style{.width = 45}), 2u);
  EXPECT_EQ(out.str(),
            "                stays   back  answered in\n"
            "strategy         down  after   the outage\n"
            "fixed        20 of 20  never         95 %\n"
            "exponential         0    5 s         95 %\n");
}

TEST(CellAnswer, SaysOfAllRowsWhatIsTrueOfAll) {
  EXPECT_TRUE(says(summary_of({"a", "b"}, {{{"a"}, cell_of(20, 0)}, {{"b"}, cell_of(20, 0)}}),
                   "rows-all-back"));
  EXPECT_TRUE(says(summary_of({"a", "b"}, {{{"a"}, cell_of(0, 9)}, {{"b"}, cell_of(0, 9)}}),
                   "rows-all-down"));
  EXPECT_FALSE(says(summary_of({"a", "b"}, {{{"a"}, cell_of(0, 9)}, {{"b"}, cell_of(1, 0, 9)}}),
                    "rows-all-back"));
}

// What parts rows that all come back: what is answered, or, with nothing broken, how soon.
TEST(CellAnswer, SaysWhichRowIsBest) {
  std::vector<AnsweredRow> rows{{{"a"}, cell_of(20, 0)}, {{"b"}, cell_of(20, 0)}};
  const auto during = [&rows](std::size_t row) -> auto& {
    return rows[row].result.phases[static_cast<std::size_t>(RunPhase::kDuring)].success;
  };
  during(0) = 0.52, during(1) = 0.56;
  EXPECT_FALSE(says(summary_of({"a", "b"}, rows), "rows-answers-most"));
  during(1) = 0.58;
  EXPECT_TRUE(says(summary_of({"a", "b"}, rows), "rows-answers-most"));
  // One that stays down is none of the best, and one row is no choice.
  rows[0] = {{"a"}, cell_of(0, 20)};
  EXPECT_FALSE(says(summary_of({"a", "b"}, rows), "rows-answers-most"));
  rows[0] = {{"a"}, cell_of(15, 5)};
  EXPECT_TRUE(says(summary_of({"a", "b"}, rows), "rows-sometimes-down"));

  const auto calm = [](Duration p99, double success) {
    CellResult cell;
    cell.runs = cell.no_outage = 20;
    cell.success_share = success;
    cell.request_p99 = TimeBound{p99, false};
    return cell;
  };
  rows = {{{"none"}, calm(1s, 1)}, {{"p95"}, calm(40ms, 1)}, {{"refused"}, calm(1ms, 0.5)}};
  const Statements summary = summary_of({"none", "p95", "refused"}, rows);
  const auto fastest = std::find_if(summary.begin(), summary.end(), [](const Statement& each) {
    return each.id == "rows-fastest";
  });
  ASSERT_NE(fastest, summary.end());
  EXPECT_EQ(std::get<std::string>(fastest->values[0].of), "p95");
  EXPECT_EQ(std::get<std::string>(fastest->values[2].of), "none");
  rows[1].result.request_p99->time = 900ms;
  EXPECT_FALSE(says(summary_of({"none", "p95", "refused"}, rows), "rows-fastest"));
}

}  // namespace
}  // namespace retrystorm
