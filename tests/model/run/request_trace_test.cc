#include "model/run/request_trace.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

constexpr TimePoint kTraceStart{1000s};
constexpr NextAttempt kRequestOver{};

TimePoint moment(Duration t) {
  return kTraceStart + t;
}

AttemptResult fine(Duration latency) {
  return {.latency = latency};
}

TEST(RequestTrace, FollowsTheFirstRequestsAfterItIsOpened) {
  RequestTrace trace(RequestTrace::Sees::kAnswers, kTraceStart, 2);
  EXPECT_FALSE(trace.begin(moment(1s), 7));
  trace.open();
  EXPECT_TRUE(trace.begin(moment(2s), 8));
  EXPECT_TRUE(trace.wants());
  EXPECT_TRUE(trace.begin(moment(3s), 9));
  EXPECT_FALSE(trace.wants());
  EXPECT_FALSE(trace.begin(moment(4s), 10));
  // It ignores the others.
  trace.sent(moment(4s), 10, 1);
  trace.ended(10, fine(1s));
  trace.follow(moment(5s), 10, kRequestOver);
  const auto rest = trace.take_rest();
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[0].client, 8u);
  EXPECT_EQ(rest[0].number, 1u);
  EXPECT_EQ(rest[0].t, 2s);
  EXPECT_EQ(rest[1].client, 9u);
  EXPECT_FALSE(rest[1].time.has_value());
}

TEST(RequestTrace, ReportsARequestOnceTheServerHasFinishedAllItsAttempts) {
  RequestTrace trace(RequestTrace::Sees::kServer, kTraceStart, 1);
  trace.open();
  trace.begin(moment(1s), 7);
  trace.sent(moment(1s), 7, 4);
  trace.ended(7, timed_out(2s));
  trace.follow(moment(3s), 7, {.wait = 500ms, .retry = true});
  trace.sent(moment(3500ms), 7, 5);
  trace.accepted(moment(4s), 7, 4);  // the first one, whose client has given up
  trace.accepted(moment(4s), 7, 5);
  trace.answered(moment(4100ms), 7, 5);
  trace.ended(7, fine(600ms));
  trace.follow(moment(4100ms), 7, kRequestOver);
  EXPECT_TRUE(trace.take_finished().empty());
  trace.answered(moment(4200ms), 7, 4);
  const auto finished = trace.take_finished();
  ASSERT_EQ(finished.size(), 1u);
  const TracedRequest& request = finished[0];
  EXPECT_EQ(request.time, 3100ms);
  EXPECT_FALSE(request.gave_up.has_value());
  ASSERT_EQ(request.attempts.size(), 2u);
  const TracedAttempt& first = request.attempts[0];
  EXPECT_EQ(first.fate, AttemptFate::kTimedOut);
  EXPECT_EQ(first.connect, 0s);
  EXPECT_EQ(first.queue, 3s);
  EXPECT_EQ(first.service, 200ms);
  EXPECT_EQ(first.late, 1200ms);
  EXPECT_EQ(first.wait, 500ms);
  const TracedAttempt& second = request.attempts[1];
  EXPECT_EQ(second.fate, AttemptFate::kOk);
  EXPECT_EQ(second.queue, 500ms);
  EXPECT_EQ(second.service, 100ms);
  EXPECT_FALSE(second.late.has_value());
  EXPECT_FALSE(second.wait.has_value());
  EXPECT_TRUE(trace.take_rest().empty());
}

TEST(RequestTrace, CountsAnAttemptThatWasNeverAcceptedAsFinished) {
  RequestTrace trace(RequestTrace::Sees::kServer, kTraceStart, 1);
  trace.open();
  trace.begin(moment(0s), 1);
  trace.sent(moment(0s), 1, 1);
  trace.no_room(1, 1);
  trace.ended(1, timed_out(500ms));
  trace.follow(moment(500ms), 1, {.gave_up = GiveUp::kAttempts});
  const auto finished = trace.take_finished();
  ASSERT_EQ(finished.size(), 1u);
  EXPECT_EQ(finished[0].gave_up, GiveUp::kAttempts);
  EXPECT_FALSE(finished[0].attempts[0].connect.has_value());
  EXPECT_FALSE(finished[0].attempts[0].queue.has_value());
}

TEST(RequestTrace, ReportsWhatWasNotSentAndWhy) {
  RequestTrace trace(RequestTrace::Sees::kServer, kTraceStart, 1);
  trace.open();
  trace.begin(moment(0s), 1);
  trace.not_sent(moment(1s), 1, Permission::Kind::kRefused);
  trace.follow(moment(1s), 1, {.wait = 1s, .retry = true});
  trace.not_sent(moment(2s), 1, Permission::Kind::kTooLate);
  trace.follow(moment(2s), 1, {.gave_up = GiveUp::kDeadline});
  const auto finished = trace.take_finished();
  ASSERT_EQ(finished.size(), 1u);
  const auto& attempts = finished[0].attempts;
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_EQ(finished[0].sent(), 0u);
  EXPECT_EQ(attempts[0].fate, AttemptFate::kNotSent);
  EXPECT_EQ(attempts[0].why, GiveUp::kGate);
  EXPECT_EQ(attempts[0].wait, 1s);
  EXPECT_EQ(attempts[1].t, 2s);
  EXPECT_EQ(attempts[1].why, GiveUp::kDeadline);
}

TEST(RequestTrace, TellsTheWaitForAConnectionFromTheTimeToConnect) {
  RequestTrace trace(RequestTrace::Sees::kServer, kTraceStart, 2);
  trace.open();
  trace.begin(moment(1s), 7);
  trace.sent(moment(1s), 7, 1);
  trace.no_room(7, 1);
  trace.left_line(moment(1500ms), 7, 1);
  trace.connected(moment(1700ms), 7, 1);
  trace.accepted(moment(2s), 7, 1);
  trace.answered(moment(2100ms), 7, 1);
  trace.ended(7, fine(1100ms));
  trace.follow(moment(2100ms), 7, kRequestOver);
  // This one gets no connection.
  trace.begin(moment(1s), 8);
  trace.sent(moment(1s), 8, 1);
  trace.no_room(8, 1);
  trace.left_line(moment(3s), 8, 1);
  trace.ended(8, timed_out(2s));
  trace.follow(moment(3s), 8, kRequestOver);
  const auto finished = trace.take_finished();
  ASSERT_EQ(finished.size(), 2u);
  const TracedAttempt& sent = finished[0].attempts[0];
  EXPECT_EQ(sent.pool, 500ms);
  EXPECT_EQ(sent.connect, 200ms);
  EXPECT_EQ(sent.queue, 300ms);
  EXPECT_EQ(sent.service, 100ms);
  EXPECT_EQ(finished[1].attempts[0].pool, 2s);
  EXPECT_FALSE(finished[1].attempts[0].connect.has_value());
}

TEST(RequestTrace, OfAnswersTakesTheWaitForAConnectionFromTheRest) {
  RequestTrace trace(RequestTrace::Sees::kAnswers, kTraceStart, 1);
  trace.open();
  trace.begin(moment(0s), 1);
  trace.sent(moment(0s), 1, 0);
  trace.ended(1, fine(300ms), 100ms, 50ms);
  trace.follow(moment(300ms), 1, kRequestOver);
  const TracedAttempt attempt = trace.take_finished().at(0).attempts.at(0);
  EXPECT_EQ(attempt.pool, 50ms);
  EXPECT_EQ(attempt.queue, 150ms);
  EXPECT_EQ(attempt.service, 100ms);
}

TEST(RequestTrace, ComputesTheOtherPartsFromTheServersTimes) {
  RequestTrace trace(RequestTrace::Sees::kAnswers, kTraceStart, 1);
  trace.open();
  trace.begin(moment(0s), 1);
  trace.sent(moment(0s), 1, 0);
  trace.ended(1, answered(503, std::nullopt, 300ms), 400ms);  // longer than it lasted: a wrong time
  trace.follow(moment(300ms), 1, {.retry = true});
  trace.sent(moment(300ms), 1, 0);
  trace.ended(1, fine(300ms), 100ms);
  trace.follow(moment(600ms), 1, kRequestOver);
  const auto finished = trace.take_finished();
  ASSERT_EQ(finished.size(), 1u);
  const auto& attempts = finished[0].attempts;
  EXPECT_EQ(attempts[0].status, 503);
  EXPECT_FALSE(attempts[0].service.has_value());
  EXPECT_FALSE(attempts[0].queue.has_value());
  EXPECT_EQ(attempts[1].service, 100ms);
  EXPECT_EQ(attempts[1].queue, 200ms);
  EXPECT_FALSE(attempts[1].connect.has_value());
}

}  // namespace
}  // namespace retrystorm
