#include "model/run/counts.h"

#include <gtest/gtest.h>

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

constexpr Counts kCounts{.ok = 40,
                         .errors = 5,
                         .timed_out = 15,
                         .requests = 50,
                         .retries = 20,
                         .gave_up_by = {1, 0, 3},
                         .failing = 6};

TEST(Counts, SumsUp) {
  EXPECT_EQ(kCounts.attempts(), 70);
  EXPECT_EQ(kCounts.failures(), 20);
  EXPECT_EQ(kCounts.finished(), 60);
}

TEST(Counts, CountsEachOutcomeInItsPlace) {
  Counts counts;
  counts.count(Outcome::kOk);
  counts.count(Outcome::kError);
  counts.count(Outcome::kError);
  for (int i = 0; i < 3; ++i) counts.count(Outcome::kTimedOut);
  EXPECT_EQ(counts.ok, 1);
  EXPECT_EQ(counts.errors, 2);
  EXPECT_EQ(counts.timed_out, 3);
  EXPECT_EQ(counts.attempts(), 0);
}

TEST(Counts, AmplificationIsAttemptsForEachRequest) {
  EXPECT_EQ(kCounts.amplification(), 1.4);
  EXPECT_EQ(Counts{.requests = 10}.amplification(), 1);
  EXPECT_EQ(Counts{}.amplification(), 1);
}

// Of 60 requests 40 succeeded, 4 were given up, and 6 go on failing: of the others nothing is
// known.
TEST(Counts, SuccessShareIsOfTheRequestsOfWhichSomethingIsKnown) {
  EXPECT_EQ(kCounts.success_share(), 0.8);
  EXPECT_EQ(Counts{.requests = 10}.success_share(), 1);
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
