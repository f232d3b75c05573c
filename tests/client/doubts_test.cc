// Which verdicts are taken back, because there was no outage or it may go on.
#include "client/experiment.h"
#include "client/server_status.h"
#include "common/output/report.h"
#include "server/admin.h"
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

using test::facts;

// What a server with these settings says of itself, as the client reads it.
ServerStatus status_of(const ServerInterval& now, const ServiceOptions& service) {
  return parse_server_status(server_status(now, 1s, service).dump()).value();
}

// delay(c) = 100 ms * 1.05^((c - 30) / 15) is 2 s at c = 30 + 15 ln(20) / ln(1.05) = 951.005.
TEST(HeldDown, KnowsTheLineOfOurServer) {
  const ServerStatus now = status_of({.concurrency = 6862, .last_delay = Duration::max()}, {});
  EXPECT_NEAR(*late_from(now, 2s), 951.005, 0.001);
  const auto held = held_down(now, 2s, 472.4, 11);
  EXPECT_EQ(facts(held->why), "held-down(requests=6862, timeout=2s, attempts=472, most=951)");
  EXPECT_EQ(held->shed_above, 33);
  EXPECT_FALSE(held_down(status_of({.concurrency = 951}, {}), 2s, 472, 11));
  EXPECT_TRUE(held_down(status_of({.concurrency = 952}, {}), 2s, 472, 11));
}

// 20 workers of 100 ms serve 200 a second: in the 1.9 s before a worker must take it, 380.
TEST(HeldDown, CountsTheRequestsThatWaitForAWorker) {
  ServiceOptions service;
  service.capacity = Capacity::kWorkers;
  service.workers.workers = 20;
  service.workers.service_time = ServiceTime::parse("100ms");
  const auto with_waiting = [&](std::size_t waiting) {
    return status_of({.workers = WorkerState{.workers = 20, .busy = 20, .waiting = waiting}},
                     service);
  };
  EXPECT_NEAR(*late_from(with_waiting(0), 2s), 380, 1e-9);
  EXPECT_FALSE(held_down(with_waiting(380), 2s, 100, 0));
  EXPECT_EQ(facts(held_down(with_waiting(1000), 2s, 100, 0)->why),
            "held-down-waiting(requests=1000, timeout=2s, attempts=100, most=380)");
}

TEST(HeldDown, SaysOfAnotherServiceOnlyHowLongAnAnswerTakes) {
  const ServerStatus other{.concurrency = 500, .last_delay_s = 9e8};
  EXPECT_FALSE(late_from(other, 2s));
  EXPECT_EQ(held_down(other, 2s, 100, 0)->why.id, "held-down-endless");
  EXPECT_EQ(held_down({.concurrency = 500, .last_delay_s = 2.5}, 2s, 100, 0)->why.id,
            "held-down-slow");
  EXPECT_FALSE(held_down({.concurrency = 500, .last_delay_s = 2}, 2s, 100, 0));
}

TEST(ServerStatus, IsWithoutSettingsIfOneIsMissingOrWrong) {
  auto json = server_status({}, 1s, {});
  EXPECT_TRUE(parse_server_status(json.dump())->service);
  json["settings"]["limit"] = "many";
  EXPECT_FALSE(parse_server_status(json.dump())->service);
  json["settings"].erase("limit");
  EXPECT_FALSE(parse_server_status(json.dump())->service);
  json["settings"] = 1;
  EXPECT_FALSE(parse_server_status(json.dump())->service);
}

}  // namespace
}  // namespace retrystorm
