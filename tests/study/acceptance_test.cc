// Plans for the claim that a share is below a bound: published numbers, and how often they are wrong.
#include "study/judged_runs.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

// Clopper and Pearson's 95 % intervals (as in Brown, Cai and DasGupta 2001 and in every table of them).
TEST(ClopperPearson, IsThePublishedOne) {
  EXPECT_NEAR(greatest_share(0, 10, 0.025), 0.3085, 5e-5);
  EXPECT_NEAR(least_share(1, 10, 0.025), 0.0025, 5e-5);
  EXPECT_NEAR(greatest_share(1, 10, 0.025), 0.4450, 5e-5);
  EXPECT_NEAR(least_share(5, 10, 0.025), 0.1871, 5e-5);
  EXPECT_NEAR(greatest_share(5, 10, 0.025), 0.8129, 5e-5);
  EXPECT_EQ(least_share(0, 10), 0);
  EXPECT_EQ(greatest_share(10, 10), 1);
  // By hand: (1 - p)^n = 5 %.
  EXPECT_NEAR(greatest_share(0, 299), 1 - std::pow(0.05, 1.0 / 299), 1e-12);
  EXPECT_NEAR(least_share(3, 3), std::cbrt(0.05), 1e-12);
}

TEST(Binomial, IsTheSumOfItsTerms) {
  EXPECT_NEAR(binomial_at_most(1, 4, 0.25), std::pow(0.75, 4) + 4 * 0.25 * std::pow(0.75, 3),
              1e-12);
  EXPECT_EQ(binomial_at_most(4, 4, 0.25), 1);
  EXPECT_EQ(binomial_at_most(0, 4, 1), 0);
  EXPECT_NEAR(binomial_at_most(5'000, 10'000, 0.5), 0.5, 0.005);  // where the first terms underflow
}

// The numbers of reliability demonstration tests with 95 % confidence: 59 for 5 %, 299, 473, 628, 773 and
// 913 for 1 % with up to four failures.
TEST(Acceptance, HasThePublishedNumbers) {
  EXPECT_EQ(least_runs(0.1), 29u);
  EXPECT_EQ(least_runs(0.05), 59u);
  EXPECT_EQ(least_runs(0.01), 299u);
  EXPECT_FALSE(acceptance(298, 0.01));
  std::size_t failures = 0;
  for (const std::size_t runs : {299, 473, 628, 773, 913}) {
    EXPECT_EQ(acceptance(runs, 0.01)->most_for, failures) << runs;
    if (failures > 0) {
      EXPECT_EQ(acceptance(runs - 1, 0.01)->most_for, failures - 1) << runs;
    }
    ++failures;
  }
  // Tossing a coin five times: all heads have 3 %.
  const auto coin = acceptance(5, 0.5);
  EXPECT_EQ(coin->most_for, 0u);
  EXPECT_EQ(coin->least_against, 5u);
  EXPECT_EQ(acceptance(4, 0.5), std::nullopt);
}

TEST(Acceptance, EndsOnlyWhenNothingCanChangeAnyMore) {
  const Acceptance plan = *acceptance(628, 0.01);
  ASSERT_EQ(plan.most_for, 2u);
  const auto finding = [&plan](std::size_t runs, std::size_t hits, std::size_t open = 0) {
    const Accepted now = judge(plan, runs, hits, open);
    EXPECT_TRUE(now.certain || now.judgement.finding == Finding::kUndecided);
    return std::pair(now.judgement.finding, now.certain);
  };
  using Is = std::pair<Finding, bool>;
  EXPECT_EQ(finding(0, 0), Is(Finding::kUndecided, false));
  EXPECT_EQ(finding(627, 2), Is(Finding::kUndecided, false));
  EXPECT_EQ(finding(627, 1), Is(Finding::kHolds, true));
  EXPECT_EQ(finding(628, 2), Is(Finding::kHolds, true));
  EXPECT_EQ(finding(628, 3), Is(Finding::kUndecided, true));
  EXPECT_EQ(finding(628, 2, 1).first, Finding::kUndecided);  // it may be down in the end
  EXPECT_EQ(judge(plan, 628, 2, 1).judgement.recovering, 1u);
  EXPECT_EQ(finding(15, plan.least_against - 1), Is(Finding::kUndecided, false));
  EXPECT_EQ(finding(15, plan.least_against), Is(Finding::kBroken, true));
}

// A decoy that is down in exactly this share of its runs, tried a thousand times, with looks in between.
TEST(Acceptance, IsWrongAsRarelyAsItSays) {
  const Acceptance plan = *acceptance(628, 0.01);
  constexpr std::size_t kTimes = 1'000;
  std::mt19937_64 random(1);
  const auto found = [&](double share) {
    std::array<std::size_t, 3> counts{};
    for (std::size_t i = 0; i < kTimes; ++i) {
      std::size_t hits = 0;
      std::optional<Finding> first;
      for (std::size_t runs = 1; runs <= plan.runs; ++runs) {
        hits += std::generate_canonical<double, 53>(random) < share ? 1 : 0;
        if (runs % 60 != 15 && runs != plan.runs) continue;
        const Accepted now = judge(plan, runs, hits, 0);
        if (now.certain && !first) first = now.judgement.finding;
        // Whenever one looks, it is the finding of all runs.
        if (runs == plan.runs) {
          EXPECT_EQ(now.judgement.finding, first);
        }
      }
      ++counts.at(static_cast<std::size_t>(*first));
    }
    return counts;
  };
  const auto expect_near = [](std::size_t count, double share) {
    EXPECT_NEAR(static_cast<double>(count), kTimes * share,
                4 * std::sqrt(kTimes * share * (1 - share)));
  };
  const auto holds = static_cast<std::size_t>(Finding::kHolds);
  const auto broken = static_cast<std::size_t>(Finding::kBroken);
  const double wrongly = binomial_at_most(2, 628, 0.01), rightly = binomial_at_most(2, 628, 0.002);
  EXPECT_LE(wrongly, 0.05);
  EXPECT_GE(rightly, 0.8);
  const auto bad = found(0.01), good = found(0.002);
  expect_near(bad[holds], wrongly);
  expect_near(good[holds], rightly);
  expect_near(bad[broken], 1 - binomial_at_most(plan.least_against - 1, 628, 0.01));
  EXPECT_LE(1 - binomial_at_most(plan.least_against - 1, 628, 0.01), 0.05);
}

}  // namespace
}  // namespace retrystorm::test
