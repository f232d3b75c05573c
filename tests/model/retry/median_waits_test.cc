// Compares median waits with formulas, and checks that they fall with no built-in way to wait.

#include "model/retry/retry_settings.h"
#include "model/retry/schedule.h"
#include "model/retry/strategies.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

BackoffSettings backoff_of(const std::string& settings) {
  RetrySettings retry = options_from<RetrySettings>(settings);
  return retry.backoff;
}

constexpr const char* kDoubled =
    "growth = exponential\nbackoff-base = 1s\nbackoff-factor = 2\nbackoff-cap = 30s\n";

TEST(MedianWaits, AreExactWhereWaitsDoNotDependOnEachOther) {
  const auto medians = [](const std::string& jitter) {
    return median_waits(backoff_of(kDoubled + jitter), 6);
  };
  EXPECT_EQ(medians(""), (std::vector<Duration>{1s, 2s, 4s, 8s, 16s, 30s}));
  EXPECT_EQ(medians("backoff-factor = 0.5\n"),  // as gRPC allows
            (std::vector<Duration>{1s, 500ms, 250ms, 125ms, 62'500us, 31'250us}));
  EXPECT_EQ(medians("jitter = full\n"), (std::vector<Duration>{500ms, 1s, 2s, 4s, 8s, 15s}));
  EXPECT_EQ(medians("jitter = equal\n"),
            (std::vector<Duration>{750ms, 1500ms, 3s, 6s, 12s, 22500ms}));
  EXPECT_EQ(medians("jitter = normal:0.3\n"), medians(""));
  EXPECT_EQ(medians("jitter = proportional:0.2\n"), medians(""));
  EXPECT_EQ(medians("jitter = additive:2s\ncap-applies = after-jitter\n"),
            (std::vector<Duration>{2s, 3s, 5s, 9s, 17s, 30s}));
  EXPECT_NEAR(to_seconds(medians("jitter = exponential\n")[2]), 4 * std::log(2), 1e-8);
  EXPECT_EQ(medians("jitter = full\nfirst-at-once = yes\n")[0], 0s);
  EXPECT_EQ(medians("jitter = full\njitter-first = no\n")[0], 1s);
}

TEST(FirstWaits, SpanTheirUniformDistribution) {
  const auto span = [](const std::string& jitter) {
    const WaitSpan waits = first_waits_span(backoff_of(kDoubled + jitter));
    return std::pair(to_seconds(waits.from), to_seconds(waits.to));
  };
  const auto near = [](double from, double to) {
    return testing::Pair(testing::DoubleNear(from, 1e-6), testing::DoubleNear(to, 1e-6));
  };
  EXPECT_THAT(span(""), near(1, 1));
  EXPECT_THAT(span("jitter = full\n"), near(0, 1));
  EXPECT_THAT(span("jitter = equal\n"), near(0.5, 1));
  EXPECT_THAT(span("jitter = proportional:0.2\n"), near(0.8, 1.2));
  EXPECT_THAT(span("jitter = additive:3s\n"), near(1, 4));
  EXPECT_THAT(span("jitter = decorrelated\n"), near(1, 3));
  // Nine tenths of a normal variable are within 1.645 of its standard deviations.
  EXPECT_THAT(span("jitter = normal:0.1\n"),
              testing::Pair(testing::DoubleNear(1 - 0.1645 / 0.9, 2e-3),
                            testing::DoubleNear(1 + 0.1645 / 0.9, 2e-3)));
}

// The wait before the third retry is 4 u1 u2 u3 s. The median of the product is that of a Gamma
// distribution with shape 3, 2.6740603.
TEST(MedianWaits, AreNearlyExactWhereAWaitGrowsFromTheJitteredOne) {
  const auto medians =
      median_waits(backoff_of(kDoubled + std::string("jitter = full\ngrow-from = jittered\n")), 3);
  EXPECT_EQ(medians[0], 500ms);
  EXPECT_NEAR(to_seconds(medians[1]), 2 * std::exp(-1.6783470), 0.004);
  EXPECT_NEAR(to_seconds(medians[2]), 4 * std::exp(-2.6740603), 0.004);
}

// With a base of 1: 1 + 2 u1, then 1 + u2 (3 (1 + 2 u1) - 1).
TEST(MedianWaits, AreNearlyExactWhereAJitterComputesThem) {
  const auto medians = median_waits(backoff_of("jitter = decorrelated\nbackoff-base = 1s\n"), 2);
  EXPECT_EQ(medians[0], 2s);
  double low = 1, high = 9;
  for (int i = 0; i < 60; ++i) {  // P(wait < m) as the mean over u1
    const double m = (low + high) / 2;
    double below = 0;
    constexpr int kSteps = 20'000;
    for (int step = 0; step < kSteps; ++step) {
      below += std::min((m - 1) / (2 + 6 * (step + 0.5) / kSteps), 1.0) / kSteps;
    }
    (below < 0.5 ? low : high) = m;
  }
  EXPECT_NEAR(to_seconds(medians[1]), low, 0.01 * low);
}

// The findings on policies of .NET rest on it.
TEST(MedianWaits, OfPollyDoubleAfterTheFirstTwelve) {
  const auto medians = median_waits(backoff_of("jitter = polly\nbackoff-base = 1s\n"), 16);
  for (std::size_t i = 12; i < medians.size(); ++i) {
    EXPECT_NEAR(to_seconds(medians[i]) / to_seconds(medians[i - 1]), 2, 1e-4) << i;
  }
}

// A strategy's own --grow-from=jittered, made for its normal jitter of a tenth, made the waits
// shrink with full jitter: from 1 s to 0.04 s in eleven retries.
TEST(MedianWaits, FallForNoStrategyGrowthAndJitter) {
  std::set<std::string> seen;
  for (const NamedStrategy& strategy : named_strategies()) {
    for (const char* growth : {"", "none", "constant", "linear", "exponential", "table"}) {
      for (const char* jitter :
           {"", "none", "full", "equal", "normal:0.1", "normal:0.3", "proportional:0.2",
            "additive:1s", "additive:1%", "exponential", "decorrelated", "polly"}) {
        std::string options = "strategy = " + std::string(strategy.name) + '\n';
        if (*growth != '\0') options.append("growth = ").append(growth) += '\n';
        if (*jitter != '\0') options.append("jitter = ").append(jitter) += '\n';
        BackoffSettings settings = backoff_of(options);
        // A jitter that computes the waits itself uses only the base and the cap.
        if (settings.jitter.is_growth() &&
            !seen.insert(to_string(settings.jitter) + format_duration(settings.base) +
                         format_duration(settings.cap))
                 .second) {
          continue;
        }
        const auto medians = median_waits(settings, 8);
        for (std::size_t i = 1; i < medians.size(); ++i) {
          ASSERT_GE(medians[i], medians[i - 1]) << "retry " << i << " of\n" << options;
        }
      }
    }
  }
}

TEST(Jitter, OfAnotherKindBringsTheTextbooksGrowth) {
  const std::string exponential = "strategy = exponential\n";
  const BackoffSettings full = backoff_of(exponential + "jitter = full\n");
  EXPECT_EQ(full.grow_from, GrowFrom::kUnjittered);
  EXPECT_TRUE(full.jitter_first);
  // With a jitter of the same kind, the strategy's rule stays.
  const BackoffSettings more = backoff_of(exponential + "jitter = 0.2\n");
  EXPECT_EQ(more.grow_from, GrowFrom::kJittered);
  EXPECT_FALSE(more.jitter_first);
  // A given option holds for every jitter.
  const BackoffSettings given =
      backoff_of(exponential + "jitter = full\ngrow-from = jittered\njitter-first = no\n");
  EXPECT_EQ(given.grow_from, GrowFrom::kJittered);
  EXPECT_FALSE(given.jitter_first);
  EXPECT_EQ(backoff_of(exponential + "random = 1s\n").grow_from, GrowFrom::kUnjittered);
  EXPECT_TRUE(backoff_of("strategy = grpc-connect\njitter = full\n").jitter_first);
}

}  // namespace
}  // namespace retrystorm
