// Which verdicts are taken back, because there was no outage or it may go on.
#include "client/outage/doubts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace retrystorm {
namespace {

using ::testing::HasSubstr;
using By = Disturbance::By;

Recovery with(Verdict verdict, const OutageDoubts& doubts, bool unfelt = false) {
  Recovery recovery;
  recovery.verdict = verdict;
  recovery.reason = "nothing is broken any more";
  recovery.to_watch = std::chrono::minutes(1);
  recovery.unfelt = unfelt;
  return with_doubts(recovery, doubts);
}

TEST(OutageDoubts, TakeBackARecoveryFromNothing) {
  const Recovery failed = with(Verdict::kRecovered, {.by = By::kCommands, .begin_failed = true});
  EXPECT_EQ(failed.verdict, Verdict::kUndecided);
  EXPECT_EQ(failed.reason, "the outage did not happen: --outage-begin failed");
  EXPECT_TRUE(failed.outage_failed);
  // It is the reason, whatever else is missing.
  EXPECT_EQ(with(Verdict::kUndecided, {.by = By::kCommands, .begin_failed = true}).reason,
            failed.reason);
  const Recovery missed = with(Verdict::kRecovered, {.by = By::kCommands}, true);
  EXPECT_EQ(missed.verdict, Verdict::kUndecided);
  EXPECT_THAT(missed.reason, HasSubstr("was not felt"));
  EXPECT_THAT(missed.reason, HasSubstr("--outage-begin"));
  const Recovery other = with(Verdict::kRecovered, {.by = By::kSignals}, true);
  EXPECT_EQ(other.verdict, Verdict::kUndecided);
  EXPECT_THAT(other.reason, HasSubstr("--server-pid"));
}

// What the client or its orders do happens, whether or not the service minds.
TEST(OutageDoubts, LeaveARecoveryThatIsOne) {
  for (const By by : {By::kClients, By::kService}) {
    EXPECT_EQ(with(Verdict::kRecovered, {.by = by}, true).verdict, Verdict::kRecovered);
  }
  EXPECT_EQ(with(Verdict::kRecovered, {.by = By::kCommands}).reason, "nothing is broken any more");
  const Recovery recovered = with(Verdict::kRecovered, {.by = By::kCommands, .end_failed = true});
  EXPECT_EQ(recovered.verdict, Verdict::kRecovered);
  EXPECT_THAT(recovered.reason, HasSubstr("; --outage-end failed"));
}

TEST(OutageDoubts, DoNotCallACollapseWhatMayBeTheOutage) {
  for (const Verdict verdict : {Verdict::kCollapsed, Verdict::kRelapsed, Verdict::kRecovering}) {
    const Recovery recovery = with(verdict, {.by = By::kCommands, .end_failed = true});
    EXPECT_EQ(recovery.to_watch, std::nullopt);
    EXPECT_EQ(recovery.verdict, Verdict::kUndecided);
    EXPECT_EQ(recovery.reason, "the outage may go on: --outage-end failed");
    EXPECT_EQ(with(verdict, {.by = By::kCommands}).verdict, verdict);
    EXPECT_EQ(with(verdict, {.by = By::kClients}).reason, "nothing is broken any more");
  }
  EXPECT_THAT(with(Verdict::kCollapsed, {.by = By::kCommands}).reason,
              HasSubstr("; or the outage goes on: did --outage-end reach"));
  EXPECT_EQ(with(Verdict::kNoOutage, {.by = By::kCommands, .end_failed = true}).verdict,
            Verdict::kNoOutage);
}

}  // namespace
}  // namespace retrystorm
