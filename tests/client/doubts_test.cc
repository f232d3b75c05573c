// Which verdicts are taken back, because there was no outage or it may go on.

#include "client/experiment.h"
#include "tests/support/facts.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using By = Disturbance::By;

Recovery with(Verdict verdict, const OutageDoubts& doubts, bool unfelt = false) {
  Recovery recovery;
  recovery.verdict = verdict;
  recovery.causes = {{"held-by-retries", {}}};
  recovery.to_watch = std::chrono::minutes(1);
  recovery.unfelt = unfelt;
  return with_doubts(recovery, doubts);
}

TEST(OutageDoubts, TakeBackARecoveryFromNothing) {
  const Recovery failed = with(Verdict::kRecovered, {.by = By::kCommands, .begin_failed = true});
  EXPECT_EQ(failed.verdict, Verdict::kUndecided);
  EXPECT_EQ(test::facts(failed.causes), "begin-failed");
  EXPECT_TRUE(failed.outage_failed);
  // It is the reason, whatever else is missing.
  EXPECT_EQ(
      test::facts(with(Verdict::kUndecided, {.by = By::kCommands, .begin_failed = true}).causes),
      "begin-failed");
  const Recovery missed = with(Verdict::kRecovered, {.by = By::kCommands}, true);
  EXPECT_EQ(missed.verdict, Verdict::kUndecided);
  EXPECT_EQ(test::facts(missed.causes), "unfelt-commands");
  const Recovery other = with(Verdict::kRecovered, {.by = By::kSignals}, true);
  EXPECT_EQ(other.verdict, Verdict::kUndecided);
  EXPECT_EQ(test::facts(other.causes), "unfelt-signals");
}

// What the client or its orders do happens, whether or not the service minds.
TEST(OutageDoubts, LeaveARecoveryThatIsOne) {
  for (const By by : {By::kClients, By::kService}) {
    EXPECT_EQ(with(Verdict::kRecovered, {.by = by}, true).verdict, Verdict::kRecovered);
  }
  EXPECT_EQ(test::facts(with(Verdict::kRecovered, {.by = By::kCommands}).causes),
            "held-by-retries");
  const Recovery recovered = with(Verdict::kRecovered, {.by = By::kCommands, .end_failed = true});
  EXPECT_EQ(recovered.verdict, Verdict::kRecovered);
  EXPECT_EQ(test::facts(recovered.causes), "held-by-retries; end-failed");
}

TEST(OutageDoubts, DoNotCallACollapseWhatMayBeTheOutage) {
  for (const Verdict verdict : {Verdict::kCollapsed, Verdict::kRelapsed, Verdict::kRecovering}) {
    const Recovery recovery = with(verdict, {.by = By::kCommands, .end_failed = true});
    EXPECT_EQ(recovery.to_watch, std::nullopt);
    EXPECT_EQ(recovery.verdict, Verdict::kUndecided);
    EXPECT_EQ(test::facts(recovery.causes), "may-go-on-failed");
    EXPECT_EQ(with(verdict, {.by = By::kCommands}).verdict, verdict);
    EXPECT_EQ(test::facts(with(verdict, {.by = By::kClients}).causes), "held-by-retries");
  }
  EXPECT_EQ(test::facts(with(Verdict::kCollapsed, {.by = By::kCommands}).causes),
            "held-by-retries; may-go-on");
  EXPECT_EQ(with(Verdict::kNoOutage, {.by = By::kCommands, .end_failed = true}).verdict,
            Verdict::kNoOutage);
}

}  // namespace
}  // namespace retrystorm
