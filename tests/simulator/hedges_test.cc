#include "simulator/calls.h"
#include "tests/support/retry_parts.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

constexpr TimePoint moment(Duration t) {
  return TimePoint{} + t;
}

// A server that the test answers for, and an owner that begins no further requests.
class HedgesTest : public testing::Test, public Target, public CallOwner {
 protected:
  void begin(std::string_view settings, Duration timeout = 2s) {
    WorkloadOptions workload;
    workload.timeout = timeout;
    workload.retry = test::settings_of<RetrySettings>(settings);
    calls_.emplace(workload, 1, moment(1h), 2, *this, nullptr);
    calls_->send_to(*this);
    const Calls::Slot slot = calls_->add_slot();
    calls_->occupy(moment(0s), slot, slot);
    calls_->begin(moment(0s), slot);
  }
  // Lets time pass until `end`.
  void run(Duration end) {
    while (true) {
      const TimePoint timeout = calls_->next_timeout(), wait = calls_->next_wait();
      const TimePoint next = std::min(timeout, wait);
      if (next > moment(end)) return;
      now_ = next;
      timeout <= wait ? calls_->time_out(next) : calls_->end_wait(next);
    }
  }
  void answer(Duration t, std::size_t attempt, bool ok = true, int status = 503) {
    run(t);
    ASSERT_LT(attempt, sent_.size());
    ASSERT_TRUE(calls_->waits_for(sent_[attempt]));
    Answer answer;
    if (!ok) {
      answer.failed = true;
      answer.with = status;
    }
    calls_->take_answer(moment(t), sent_[attempt], answer);
  }

  void connect(TimePoint now, const Attempt& attempt) override {
    sent_.push_back(attempt);
    times_.push_back(now - TimePoint{});
  }
  void send(TimePoint, const Attempt&) override {}
  void hang_up(TimePoint, const Attempt& attempt) override {
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      if (sent_[i].client == attempt.client && sent_[i].number == attempt.number) {
        hung_up_.push_back(i);
      }
    }
  }
  void call_over(TimePoint, std::uint32_t slot, const NextAttempt& next) override {
    over_.push_back(next);
    EXPECT_EQ(slot, 0u);
  }
  void waits(std::uint32_t, Duration) override {}

  std::optional<Calls> calls_;
  TimePoint now_{};
  std::vector<Attempt> sent_;
  std::vector<Duration> times_;
  std::vector<std::size_t> hung_up_;
  std::vector<NextAttempt> over_;
};

TEST_F(HedgesTest, AnswersWithTheFirstSuccessAndCancelsTheOthers) {
  begin("max-retries = 0\nhedge = 100ms\nhedge-max = 2\n");
  answer(250ms, 1);
  EXPECT_THAT(times_, ElementsAre(0ms, 100ms, 200ms));
  EXPECT_THAT(hung_up_, testing::UnorderedElementsAre(0, 2));
  ASSERT_EQ(over_.size(), 1);
  EXPECT_FALSE(over_[0].gave_up);
  const Counts& counts = calls_->counts();
  EXPECT_EQ(counts.requests, 1);
  EXPECT_EQ(counts.attempts, 3);
  EXPECT_EQ(counts.hedges, 2);
  EXPECT_EQ(counts.hedges_won, 1);
  EXPECT_EQ(counts.ok, 1);
  EXPECT_EQ(counts.amplification(), 3);
  EXPECT_EQ(calls_->in_flight(), 0);
  run(1h);
  EXPECT_EQ(sent_.size(), 3);
  const RunLatencies latencies = calls_->end(moment(1h));
  EXPECT_EQ(latencies.requests().ended.max(), 250ms) << "from the first attempt on";
  EXPECT_EQ(latencies.attempts().max(), 150ms) << "of the hedge";
}

TEST_F(HedgesTest, SendsNothingMoreOnceTheRequestIsOver) {
  begin("max-retries = 0\nhedge = 100ms\n");
  answer(99ms, 0);
  run(10s);
  EXPECT_EQ(sent_.size(), 1);
  EXPECT_EQ(calls_->counts().hedges, 0);
  calls_->occupy(moment(20s), 0, 1);
  calls_->begin(moment(20s), 0);
  run(20100ms);
  EXPECT_THAT(times_, ElementsAre(0ms, 20s, 20100ms));
}

// gRPC A6: a failure that is not fatal sends the next hedge at once, and the delay begins anew.
TEST_F(HedgesTest, SendsTheNextOneAtOnceAfterAFailure) {
  begin("max-retries = 0\nhedge = 500ms\nhedge-max = 3\n");
  answer(600ms, 0, false);
  EXPECT_THAT(times_, ElementsAre(0ms, 500ms, 600ms));
  run(1100ms);
  EXPECT_THAT(times_, ElementsAre(0ms, 500ms, 600ms, 1100ms));
  answer(1200ms, 1, false);
  answer(1200ms, 2, false);
  EXPECT_TRUE(over_.empty());
  answer(1300ms, 3, false);
  ASSERT_EQ(over_.size(), 1);
  EXPECT_EQ(over_[0].gave_up, GiveUp::kAttempts);
  EXPECT_EQ(calls_->counts().errors, 4);
  EXPECT_EQ(calls_->counts().failing, 0);
}

// gRPC A6: pushback. The next one after what the server asks for, then the usual delay.
TEST_F(HedgesTest, WaitsAsLongAsTheServerAsks) {
  begin("max-retries = 0\nhedge = 500ms\nhedge-max = 3\nretry-after = replace\n");
  calls_->take_answer(moment(100ms), sent_[0],
                      {.rejection = Rejection::kShed, .with = 503, .retry_after = 2s});
  EXPECT_EQ(calls_->waiting_to_retry(), 1);
  run(2600ms);
  EXPECT_THAT(times_, ElementsAre(0ms, 2100ms, 2600ms));
  EXPECT_EQ(calls_->waiting_to_retry(), 0);
}

TEST_F(HedgesTest, EndsWithAFailureThatIsNotRetried) {
  begin("max-retries = 0\nhedge = 100ms\nretry-on = timeout\n");
  answer(150ms, 1, false, 500);
  EXPECT_THAT(hung_up_, ElementsAre(0));
  ASSERT_EQ(over_.size(), 1);
  EXPECT_EQ(over_[0].gave_up, GiveUp::kNotRetryable);
}

TEST_F(HedgesTest, LetsTheOthersEndIfTheyAreNotCancelled) {
  begin("max-retries = 0\nhedge = 100ms\nhedge-cancel = no\n");
  answer(150ms, 1);
  EXPECT_TRUE(hung_up_.empty());
  EXPECT_EQ(over_.size(), 1);
  EXPECT_EQ(calls_->in_flight(), 1);
  EXPECT_EQ(calls_->requests_in_flight(), 0);
  answer(200ms, 0);
  EXPECT_EQ(over_.size(), 1);
  EXPECT_EQ(calls_->counts().ok, 1) << "requests that succeeded";
  EXPECT_EQ(calls_->in_flight(), 0);
}

// When all attempts have failed, the request is retried as any other one.
TEST_F(HedgesTest, RetriesWhenAllHaveFailed) {
  begin("max-retries = 1\ngrowth = constant\nbackoff-base = 1s\njitter = none\nhedge = 100ms\n");
  answer(200ms, 0, false);
  answer(300ms, 1, false);
  EXPECT_EQ(calls_->waiting_to_retry(), 1);
  run(2s);
  EXPECT_THAT(times_, ElementsAre(0ms, 100ms, 1300ms)) << "the one hedge of the request was sent";
  answer(2s, 2);
  EXPECT_EQ(over_.size(), 1);
  EXPECT_EQ(calls_->counts().retries, 2);
  EXPECT_EQ(calls_->counts().hedges, 1);
}

// Envoy's hedge_on_per_try_timeout: the first good answer wins, also of the try that was late.
TEST_F(HedgesTest, KeepsTheLateAttemptBesideItsRetry) {
  begin("max-retries = 1\ngrowth = none\nhedge-on = timeout\n", 1s);
  answer(1500ms, 0);
  EXPECT_EQ(sent_.size(), 2);
  EXPECT_THAT(hung_up_, ElementsAre(1));
  EXPECT_EQ(over_.size(), 1);
  EXPECT_EQ(calls_->counts().timed_out, 0);
  EXPECT_EQ(calls_->counts().hedges, 1);
  EXPECT_EQ(calls_->counts().hedges_won, 0);
}

TEST_F(HedgesTest, RetriesALateAttemptOnlyOnce) {
  begin("max-retries = 5\ngrowth = none\nhedge-on = timeout\n", 1s);
  run(1500ms);
  EXPECT_EQ(sent_.size(), 2);
  answer(1500ms, 0, false);
  run(1900ms);
  EXPECT_EQ(sent_.size(), 2) << "its retry is under way";
  answer(1900ms, 1, false);
  run(1950ms);
  EXPECT_EQ(sent_.size(), 3);
}

TEST_F(HedgesTest, WaitsForLateAttemptsOnceThereAreNoMoreRetries) {
  begin("max-retries = 1\ngrowth = none\nhedge-on = timeout\n", 1s);
  run(1min);
  EXPECT_EQ(sent_.size(), 2);
  EXPECT_TRUE(over_.empty());
  answer(1min, 1, false);
  EXPECT_TRUE(over_.empty());
  answer(1min, 0, false);
  EXPECT_EQ(over_.size(), 1);
}

// A target that the test answers for, and an owner that begins no further requests.
class CallsTest : public testing::Test, public Target, public CallOwner {
 protected:
  void connect(TimePoint, const Attempt& attempt) override { sent_ = attempt; }
  void send(TimePoint, const Attempt&) override {}
  void hang_up(TimePoint, const Attempt&) override {}
  void call_over(TimePoint, std::uint32_t, const NextAttempt&) override {}
  void waits(std::uint32_t, Duration) override {}

  Attempt sent_{};
};

// With a deadline, clients that wait for permission do not form a line. Each asks again by itself.
TEST_F(CallsTest, TakesBackRequestsThatHaveNotBegunAndNoOthers) {
  WorkloadOptions workload;
  workload.retry = test::settings_of<RetrySettings>(
      "max-retries = 0\ndeadline = 1h\nclient-rate = aws-adaptive\n");
  Calls calls(workload, 1, TimePoint{1h}, 2, *this, nullptr);
  calls.send_to(*this);
  calls.add_slots(2);
  for (const Calls::Slot slot : {0u, 1u}) calls.occupy(TimePoint{}, slot, slot);
  calls.begin(TimePoint{}, 0);
  calls.take_answer(TimePoint{10ms}, sent_, {.rejection = Rejection::kRateLimited});
  calls.begin(TimePoint{20ms}, 0);
  EXPECT_EQ(calls.in_flight(), 0) << "it waits for permission";
  const TimePoint asks_again = calls.next_wait();
  calls.begin_at(TimePoint{5s}, 1);

  const auto taken = calls.take_beginnings();
  ASSERT_EQ(taken.size(), 1);
  EXPECT_EQ(taken[0].client, 1);
  EXPECT_EQ(taken[0].end, TimePoint{5s});
  EXPECT_EQ(calls.next_wait(), asks_again);
}

}  // namespace
}  // namespace retrystorm
