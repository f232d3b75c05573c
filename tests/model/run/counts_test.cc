#include "model/run/counts.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

constexpr Counts kCounts{.ok = 40,
                         .errors = 5,
                         .timed_out = 15,
                         .requests = 50,
                         .attempts = 70,
                         .retries = 20,
                         .gave_up_by = {1, 0, 3},
                         .failing = 6};

TEST(Counts, SumsUp) {
  EXPECT_EQ(kCounts.unsent(), 0);
  EXPECT_EQ(kCounts.failures(), 20);
  EXPECT_EQ(kCounts.finished(), 60);
}

TEST(Counts, CountsEachOutcomeInItsPlace) {
  Counts counts;
  counts.count({});
  counts.count(answered(503, std::nullopt, 1ms));
  counts.count(not_connected(1ms));
  for (int i = 0; i < 3; ++i) counts.count(timed_out(1ms));
  EXPECT_EQ(counts.ok, 1);
  EXPECT_EQ(counts.errors, 2);
  EXPECT_EQ(counts.timed_out, 3);
}

TEST(Counts, CountsErrorsByKind) {
  Counts counts;
  for (const int status : {200, 301, 400, 404, 418, 429, 500, 501, 502, 503, 503, 504}) {
    counts.count(answered(status, std::nullopt, 1ms));
  }
  for (const NoAnswer why : {NoAnswer::kRefused, NoAnswer::kRefused, NoAnswer::kRefused,
                             NoAnswer::kReset, NoAnswer::kUnreachable, NoAnswer::kOther}) {
    counts.count(not_connected(1ms, why));
  }
  counts.count(timed_out(1ms));
  // 400, 404, 429, 500, 502, 503, 504, other 4xx, other 5xx, other statuses, refused, reset,
  // unreachable. One error has no kind.
  const ErrorCounts expected{1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 3, 1, 1};
  EXPECT_EQ(counts.errors_by, expected);
  EXPECT_EQ(counts.errors, 17);
  Counts sum = counts;
  sum += counts;
  EXPECT_EQ(sum.errors_by[10], 6);
  EXPECT_EQ((sum - counts).errors_by, expected);
  EXPECT_EQ(rates(counts, 2s).errors_by[10], 1.5);
}

TEST(Counts, AmplificationIsAttemptsForEachRequest) {
  EXPECT_EQ(kCounts.amplification(), 1.4);
  EXPECT_EQ((Counts{.requests = 10, .attempts = 10}).amplification(), 1);
  EXPECT_EQ(Counts{}.amplification(), 1);
}

// Of 60 requests, 40 succeeded, 4 were given up, and 6 are still failing. Nothing is known of the
// others.
TEST(Counts, SuccessShareLeavesOutRequestsWithoutAResult) {
  EXPECT_EQ(kCounts.success_share(), 0.8);
  EXPECT_EQ(Counts{.requests = 10}.success_share(), 1);
}

// Of 12 requests, 9 were sent, two of them a second time.
TEST(Counts, DerivesWhatWasNotSentFromTheRequests) {
  EXPECT_EQ((Counts{.requests = 12, .attempts = 11, .retries = 2}).unsent(), 3);
}

// The totals are read one after the other while the clients go on. If a request begins meanwhile and
// nothing of it is sent, no window may show a negative number of attempts.
TEST(Counts, ARequestThatBeginsWhileTheyAreReadIsNoAttempt) {
  const Counts before{.requests = 8, .attempts = 5, .not_sent = 3};
  for (const std::uint64_t begun_so_far : {8, 9}) {
    Counts after = before;
    after.requests = begun_so_far;
    EXPECT_EQ(rates(after - before, 5s).attempts, 0);
  }
}

TEST(Counts, CountsEachReasonInItsPlace) {
  Counts counts;
  for (const GiveUp reason : {GiveUp::kBudget, GiveUp::kBudget, GiveUp::kNotRetryable}) {
    counts.give_up(reason);
  }
  EXPECT_EQ(counts.gave_up_by, (GiveUpCounts{0, 0, 2, 0, 1}));
}

TEST(Counts, DifferenceUndoesTheSum) {
  Counts sum = kCounts;
  sum += kCounts;
  EXPECT_EQ(sum.ok, 80);
  EXPECT_EQ(sum.gave_up(), 8);
  const Counts back = sum - kCounts;
  EXPECT_EQ(back.ok, 40);
  EXPECT_EQ(back.errors, 5);
  EXPECT_EQ(back.timed_out, 15);
  EXPECT_EQ(back.requests, 50);
  EXPECT_EQ(back.attempts, 70);
  EXPECT_EQ(back.retries, 20);
  EXPECT_EQ(back.gave_up(), 4);
  EXPECT_EQ(back.gave_up_by, kCounts.gave_up_by);
  EXPECT_EQ(back.failing, 6);
}

TEST(Rates, ArePerSecondOfTheWindow) {
  const Rates r = rates(kCounts, 5s);
  EXPECT_EQ(r.ok, 8);
  EXPECT_EQ(r.errors, 1);
  EXPECT_EQ(r.timed_out, 3);
  EXPECT_EQ(r.attempts, 14);
  EXPECT_EQ(r.retries, 4);
  EXPECT_EQ(r.requests, 10);
  EXPECT_EQ(r.gave_up(), 0.8);
  EXPECT_EQ(r.gave_up_by[2], 0.6);
  EXPECT_EQ(rates(kCounts, 500ms).ok, 80);
}

TEST(Rates, AreZeroInAnEmptyWindow) {
  EXPECT_EQ(rates(kCounts, 0s).ok, 0);
  EXPECT_EQ(rates(kCounts, -1s).attempts, 0);
  EXPECT_EQ(rates(Counts{}, 5s).timed_out, 0);
}

}  // namespace
}  // namespace retrystorm
