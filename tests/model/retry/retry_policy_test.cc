#include "model/retry/retry_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/support/scripted_random.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;
using test::kNormal;
using test::kNormalU;
using test::kNormalV;
using test::ScriptedRandom;
using ::testing::ElementsAre;

// A policy and one client of it.
class Client {
 public:
  Client(const RetrySettings& settings, Random& random) : policy_(settings), random_(random) {
    begin();
  }

  void begin(Duration think_time = 10s) { policy_.begin_request(state_, think_time); }
  Decision after(const AttemptResult& result) {
    policy_.may_send(now_, state_, nullptr, random_);
    return policy_.after(now_, result, state_, nullptr, random_, metrics_);
  }
  // The wait before the retry, or after giving up.
  Duration fail() { return after(timed_out(2s)).wait; }

  // A success, and the next request.
  Duration succeed() {
    const Duration wait = after({}).wait;
    begin();
    return wait;
  }

  std::vector<Duration> fail(int times) {
    std::vector<Duration> waits;
    for (int i = 0; i < times; ++i) waits.push_back(fail());
    return waits;
  }

  const RetryMetrics& metrics() const { return metrics_; }

 private:
  RetryPolicy policy_;
  Random& random_;
  TimePoint now_{1h};
  RetryState state_;
  RetryMetrics metrics_;
};

// Throws when it is drawn from.
ScriptedRandom no_randomness() {
  return {};
}

RetrySettings exponential_without_jitter() {
  RetrySettings options = retry_settings("exponential");
  options.backoff.jitter.amount = 0;
  return options;
}

RetrySettings sleeper_without_randomness(Duration initial, double up, double down,
                                         std::uint32_t threshold) {
  RetrySettings options = retry_settings("responsive");
  options.pacer.initial_interval = initial;
  options.pacer.up_multiplier = up;
  options.pacer.down_multiplier = down;
  options.pacer.down_threshold = threshold;
  options.pacer.randomization = 0;
  return options;
}

// The articles' strategies. They give up no request.
std::vector<RetrySettings> all_strategies() {
  std::vector<RetrySettings> all;
  for (const char* name : {"fixed", "linear", "exponential", "truncated", "responsive"}) {
    all.push_back(retry_settings(name));
    all.back().limit.max_retries = LimitSettings::kUnlimited;
  }
  return all;
}

TEST(FixedRetry, WaitsForTheSameTimeForEver) {
  auto random = no_randomness();
  Client client(retry_settings("fixed"), random);
  EXPECT_THAT(client.fail(4), ElementsAre(100ms, 100ms, 100ms, 100ms));
  EXPECT_EQ(client.succeed(), 0s);
  EXPECT_EQ(client.fail(), 100ms);
}

TEST(FixedRetry, WaitsForTheGivenTime) {
  RetrySettings options = retry_settings("fixed");
  options.backoff.base = 0s;
  auto random = no_randomness();
  EXPECT_EQ(Client(options, random).fail(), 0s);
}

TEST(LinearBackoff, GrowsByTheStep) {
  RetrySettings options = retry_settings("linear");
  options.backoff.base = 1s;
  options.backoff.step = 250ms;
  auto random = no_randomness();
  Client client(options, random);
  EXPECT_THAT(client.fail(4), ElementsAre(1s, 1250ms, 1500ms, 1750ms));
}

TEST(LinearBackoff, StopsAtTheMaximum) {
  auto random = no_randomness();
  Client client(retry_settings("linear"), random);
  EXPECT_EQ(client.fail(299).back(), 299s);
  EXPECT_THAT(client.fail(3), ElementsAre(5min, 5min, 5min));
}

TEST(LinearBackoff, StartsAgainAfterASuccess) {
  auto random = no_randomness();
  Client client(retry_settings("linear"), random);
  client.fail(5);
  EXPECT_EQ(client.succeed(), 0s);
  EXPECT_THAT(client.fail(2), ElementsAre(1s, 2s));
}

// 0.1 s times powers of 2.71828, each rounded to a nanosecond, and then 5 minutes.
TEST(ExponentialBackoff, MultipliesUpToTheMaximum) {
  auto random = no_randomness();
  Client client(exponential_without_jitter(), random);
  EXPECT_THAT(client.fail(11),
              ElementsAre(100ms, 271828us, 738904616ns, 2008549640ns, 5459800315ns, 14841266000ns,
                          40342716542ns, 109662799522ns, 298094194685ns, 5min, 5min));
}

TEST(ExponentialBackoff, StartsAgainAfterASuccess) {
  auto random = no_randomness();
  Client client(exponential_without_jitter(), random);
  client.fail(5);
  EXPECT_EQ(client.succeed(), 0s);
  EXPECT_THAT(client.fail(2), ElementsAre(100ms, 271828us));
}

TEST(ExponentialBackoff, FirstWaitIsNotJittered) {
  auto random = no_randomness();
  EXPECT_EQ(Client(retry_settings("exponential"), random).fail(), 100ms);
}

TEST(ExponentialBackoff, AddsANormalVariateInProportionToTheWait) {
  ScriptedRandom random{kNormalU, kNormalV, 0.25, 0.5};
  Client client(retry_settings("exponential"), random);
  client.fail();
  // 271.828 ms * (1 + 0.1 * 1.66511)
  EXPECT_EQ(client.fail(), 317090331ns);
  // The next grows from the jittered wait: 317.090331 ms * 2.71828 * (1 - 0.1 * 1.66511)
  EXPECT_NEAR(to_seconds(client.fail()), 0.86194030495 * (1 - 0.1 * kNormal), 2e-9);
  EXPECT_EQ(random.left(), 0);
}

TEST(ExponentialBackoff, MaximumBoundsTheWaitBeforeTheJitter) {
  RetrySettings options = retry_settings("exponential");
  options.backoff.base = 200s;
  ScriptedRandom random{kNormalU, kNormalV, kNormalU, kNormalV};
  Client client(options, random);
  client.fail();
  EXPECT_EQ(client.fail(), 349953276669ns);  // 300 s * 1.166511
  EXPECT_EQ(client.fail(), 349953276669ns);
}

TEST(ExponentialBackoff, NeverHasANegativeWait) {
  RetrySettings options = retry_settings("exponential");
  options.backoff.jitter.amount = 1;
  ScriptedRandom random{0.25, 0.5};  // a normal variate of -1.66511
  Client client(options, random);
  client.fail();
  EXPECT_EQ(client.fail(), 0s);
}

// A wait that the jitter cut off at 0 is no reason to retry without a pause for ever.
TEST(ExponentialBackoff, KeepsGrowingAfterAWaitThatWasCutOff) {
  RetrySettings options = retry_settings("exponential");
  options.backoff.jitter.amount = 1;
  options.backoff.factor = 2;
  ScriptedRandom random{0.25, 0.5, kNormalU, kNormalV};
  Client client(options, random);
  client.fail();
  EXPECT_EQ(client.fail(), 0s);
  EXPECT_NEAR(to_seconds(client.fail()), 0.4 * (1 + kNormal), 1e-8);
}

TEST(ExponentialBackoff, FirstWaitIsWithinTheMaximumToo) {
  RetrySettings options = exponential_without_jitter();
  options.backoff.cap = 40ms;
  auto random = no_randomness();
  Client client(options, random);
  EXPECT_THAT(client.fail(2), ElementsAre(40ms, 40ms));
}

// As the original's code does: the first retry comes after 2.7 think times.
TEST(ExponentialBackoff, FromThinkTimeStartsAtTheLastThinkTime) {
  RetrySettings options = exponential_without_jitter();
  options.backoff.from = BackoffFrom::kThinkTime;
  auto random = no_randomness();
  Client client(options, random);
  client.begin(10s);
  EXPECT_THAT(client.fail(3), ElementsAre(27182800us, 73890461584ns, 200854963915ns));
  client.begin(1s);
  EXPECT_EQ(client.fail(), 2718280us);
}

TEST(ExponentialBackoff, FromThinkTimeJittersTheFirstWaitToo) {
  RetrySettings options = retry_settings("exponential");
  options.backoff.from = BackoffFrom::kThinkTime;
  ScriptedRandom random{kNormalU, kNormalV};
  Client client(options, random);
  client.begin(100ms);
  EXPECT_EQ(client.fail(), 317090331ns);
}

TEST(TruncatedBackoff, DoublesAndAddsARandomPart) {
  ScriptedRandom random{0, 0.5, 0.25, 0.75, 0.125};
  Client client(retry_settings("truncated"), random);
  EXPECT_THAT(client.fail(5), ElementsAre(1s, 2500ms, 4250ms, 8750ms, 16125ms));
}

TEST(TruncatedBackoff, MaximumIncludesTheRandomPart) {
  ScriptedRandom random{0, 0, 0, 0, 0, 0.5, 0.99};
  Client client(retry_settings("truncated"), random);
  EXPECT_THAT(client.fail(7), ElementsAre(1s, 2s, 4s, 8s, 16s, 32s, 32s));
}

TEST(TruncatedBackoff, StartsAgainAfterASuccess) {
  ScriptedRandom random{0, 0, 0, 0.5};
  Client client(retry_settings("truncated"), random);
  client.fail(3);
  EXPECT_EQ(client.succeed(), 0s);
  EXPECT_EQ(client.fail(), 1500ms);
}

TEST(TruncatedBackoff, ReachesItsMaximumBeforeItGivesUp) {
  ScriptedRandom random{0, 0, 0, 0, 0, 0, 0};
  Client client(retry_settings("truncated"), random);
  EXPECT_THAT(client.fail(7), ElementsAre(1s, 2s, 4s, 8s, 16s, 32s, 32s));
  const Decision last = client.after(timed_out(2s));
  EXPECT_FALSE(last.retry);
  EXPECT_EQ(last.gave_up, GiveUp::kAttempts);
  EXPECT_EQ(last.wait, 0s);
}

// The article: initial 1 ms, x1.5, no randomness.
TEST(ResponsiveSleeper, Reaches292MillisecondsAfter15Failures) {
  auto random = no_randomness();
  Client client(sleeper_without_randomness(1ms, 1.5, 0.9, 10), random);
  const auto waits = client.fail(15);
  EXPECT_EQ(waits.front(), 1ms);
  EXPECT_NEAR(to_seconds(waits.back()), 0.291929, 5e-7);
}

// The original's test: initial 10 us, x1.1, no randomness; failure, success, failure, failure.
TEST(ResponsiveSleeper, SleepsOnAfterASuccess) {
  auto random = no_randomness();
  Client client(sleeper_without_randomness(10us, 1.1, 0.9, 10), random);
  client.fail();
  EXPECT_EQ(client.metrics().total_sleep, 10us);
  client.succeed();
  EXPECT_EQ(client.metrics().total_sleep, 20us);
  client.fail();
  EXPECT_EQ(client.metrics().total_sleep, 31us);
  client.fail();
  EXPECT_EQ(client.metrics().total_sleep, 43100ns);
}

// The original's test: 1 us, x2, x0.5, threshold 5.
TEST(ResponsiveSleeper, CountsItsStepsUpAndDown) {
  auto random = no_randomness();
  Client client(sleeper_without_randomness(1us, 2, 0.5, 5), random);
  EXPECT_THAT(client.fail(5), ElementsAre(1us, 2us, 4us, 8us, 16us));
  std::vector<Duration> after;
  for (int i = 0; i < 30; ++i) after.push_back(client.succeed());
  EXPECT_EQ(client.metrics().invocations, 35);
  EXPECT_EQ(client.metrics().ups, 5);
  EXPECT_EQ(client.metrics().downs, 5);
  EXPECT_EQ(client.metrics().sleeps, 30);
  EXPECT_EQ(client.metrics().total_sleep,
            (1 + 2 + 4 + 8 + 16 * 5 + 8 * 5 + 4 * 5 + 2 * 5 + 1 * 5) * 1us);
  EXPECT_EQ(after[3], 16us);
  EXPECT_EQ(after[4], 8us);
  EXPECT_EQ(after[23], 1us);
  EXPECT_EQ(after[24], 0us);  // half a microsecond is under the initial interval
  EXPECT_EQ(after[29], 0us);
}

TEST(ResponsiveSleeper, DoesNothingWhileNothingFails) {
  auto random = no_randomness();
  Client client(retry_settings("responsive"), random);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(client.succeed(), 0s);
  EXPECT_EQ(client.metrics().invocations, 50);
  EXPECT_EQ(client.metrics().sleeps, 0);
  EXPECT_EQ(client.metrics().downs, 0);
}

TEST(ResponsiveSleeper, FailuresDoNotResetTheCountOfSuccesses) {
  auto random = no_randomness();
  Client client(sleeper_without_randomness(1s, 2, 0.5, 3), random);
  client.fail(2);
  EXPECT_EQ(client.succeed(), 2s);
  EXPECT_EQ(client.succeed(), 2s);
  EXPECT_EQ(client.fail(), 4s);
  EXPECT_EQ(client.succeed(), 2s);  // the third
  EXPECT_EQ(client.metrics().downs, 1);
  EXPECT_EQ(client.succeed(), 2s);  // the count starts again
  EXPECT_EQ(client.succeed(), 2s);
  EXPECT_EQ(client.succeed(), 1s);
}

TEST(ResponsiveSleeper, StopsUnderTheInitialIntervalAndStartsThereAgain) {
  auto random = no_randomness();
  Client client(sleeper_without_randomness(500ms, 1.5, 0.9, 1), random);
  EXPECT_EQ(client.fail(), 500ms);
  EXPECT_EQ(client.succeed(), 0s);  // 450 ms would be under it
  EXPECT_EQ(client.succeed(), 0s);
  EXPECT_EQ(client.fail(), 500ms);
}

TEST(ResponsiveSleeper, StaysAtExactlyTheInitialInterval) {
  auto random = no_randomness();
  Client client(sleeper_without_randomness(1s, 2, 0.5, 1), random);
  client.fail(2);
  EXPECT_EQ(client.succeed(), 1s);
  EXPECT_EQ(client.succeed(), 0s);
}

TEST(ResponsiveSleeper, DrawsEachStepUpButTheFirst) {
  ScriptedRandom random{0, 0.5, 0.75};
  Client client(retry_settings("responsive"), random);
  EXPECT_EQ(client.fail(), 500ms);
  EXPECT_EQ(client.fail(), 525ms);         // 750 ms - 225 ms
  EXPECT_EQ(client.fail(), 787500us);      // 787.5 ms, in the middle
  EXPECT_EQ(client.fail(), 1358437500ns);  // 1181.25 ms + 177.1875 ms
  EXPECT_EQ(random.left(), 0);
}

TEST(ResponsiveSleeper, DrawsStepsDownToo) {
  RetrySettings options = retry_settings("responsive");
  options.pacer.down_threshold = 1;
  ScriptedRandom random{0.5, 0.5, 0.75};
  Client client(options, random);
  client.fail(3);                          // 500, 750, 1125 ms
  EXPECT_EQ(client.succeed(), 1164375us);  // 1012.5 ms + half of 303.75 ms
}

TEST(ResponsiveSleeper, DrawsFromNoMoreThanTheMaximumAround) {
  RetrySettings options = retry_settings("responsive");
  options.pacer.initial_interval = 10min;
  options.pacer.max_interval = 10h;
  ScriptedRandom random{0, 0.75};
  Client client(options, random);
  client.fail();
  EXPECT_EQ(client.fail(), 13min);  // 15 min - 2 min, though 30 % are 4.5 min
  EXPECT_EQ(client.fail(), 19min + 30s + 1min);
}

TEST(ResponsiveSleeper, MaximumBoundsTheDrawnPause) {
  RetrySettings options = retry_settings("responsive");
  options.pacer.initial_interval = 14min;
  ScriptedRandom random{0.5, 0.99};
  Client client(options, random);
  client.fail();
  EXPECT_EQ(client.fail(), 15min);
  EXPECT_EQ(client.fail(), 15min);
}

TEST(ResponsiveSleeper, CountsGivingUpAsOneFailure) {
  auto random = no_randomness();
  RetrySettings settings = sleeper_without_randomness(1s, 2, 0.5, 5);
  settings.limit.max_retries = 1;
  Client client(settings, random);
  EXPECT_EQ(client.fail(), 1s);
  const Decision last = client.after(timed_out(2s));
  EXPECT_EQ(last.gave_up, GiveUp::kAttempts);
  EXPECT_EQ(last.wait, 2s);
  EXPECT_EQ(client.metrics().ups, 2);
}

TEST(Pacer, AddsItsPauseToTheBackoff) {
  auto random = no_randomness();
  RetrySettings settings = sleeper_without_randomness(1s, 2, 0.5, 5);
  settings.backoff.growth = Growth::kLinear;
  settings.backoff.base = 10s;
  settings.backoff.step = 100s;
  Client client(settings, random);
  EXPECT_THAT(client.fail(3), ElementsAre(11s, 112s, 214s));
  EXPECT_EQ(client.succeed(), 4s);
}

TEST(RetryMetrics, CountTheWaitsOfEveryStrategy) {
  auto random = no_randomness();
  Client client(retry_settings("fixed"), random);
  client.fail(3);
  client.succeed();
  EXPECT_EQ(client.metrics().invocations, 4);
  EXPECT_EQ(client.metrics().sleeps, 3);
  EXPECT_EQ(client.metrics().total_sleep, 300ms);
  EXPECT_EQ(client.metrics().ups, 0);
}

TEST(RetryMetrics, AddUp) {
  RetryMetrics sum{.invocations = 1, .ups = 2, .downs = 3, .sleeps = 4, .total_sleep = 5s};
  sum += {.invocations = 10, .ups = 20, .downs = 30, .sleeps = 40, .total_sleep = 50s};
  EXPECT_EQ(sum.invocations, 11);
  EXPECT_EQ(sum.ups, 22);
  EXPECT_EQ(sum.downs, 33);
  EXPECT_EQ(sum.sleeps, 44);
  EXPECT_EQ(sum.total_sleep, 55s);
  sum += {.total_sleep = Duration::max()};
  EXPECT_EQ(sum.total_sleep, Duration::max());
}

TEST(RetryLimit, IsTheNumberOfRetries) {
  for (const std::uint32_t limit : {0u, 1u, 3u}) {
    RetrySettings settings = retry_settings("fixed");
    settings.limit.max_retries = limit;
    auto random = no_randomness();
    Client client(settings, random);
    for (int request = 0; request < 2; ++request) {
      client.begin();
      for (std::uint32_t i = 0; i < limit; ++i) EXPECT_TRUE(client.after(timed_out(2s)).retry);
      const Decision last = client.after(timed_out(2s));
      EXPECT_FALSE(last.retry);
      EXPECT_EQ(last.gave_up, GiveUp::kAttempts);
    }
  }
}

TEST(RetryLimit, IsNoneUnlessGiven) {
  auto random = no_randomness();
  Client client(retry_settings("fixed"), random);
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(client.after(timed_out(2s)).retry);
}

TEST(RetryPolicy, DoesNotRetryFailuresThatWillNotChange) {
  for (const int status : {301, 400, 404, 501}) {
    auto random = no_randomness();
    Client client(retry_settings("fixed"), random);
    const Decision decision = client.after(answered(status, std::nullopt, 1ms));
    EXPECT_FALSE(decision.retry) << status;
    EXPECT_EQ(decision.gave_up, GiveUp::kNotRetryable) << status;
  }
  for (const int status : {408, 429, 500, 502, 503, 504}) {
    auto random = no_randomness();
    Client client(retry_settings("fixed"), random);
    EXPECT_TRUE(client.after(answered(status, std::nullopt, 1ms)).retry) << status;
  }
}

TEST(EveryStrategy, CopesWithTenThousandFailures) {
  for (const RetrySettings& options : all_strategies()) {
    ClientRandom random(1, 0);
    Client client(options, random);
    for (int i = 0; i < 10'000; ++i) {
      const Duration wait = client.fail();
      ASSERT_GE(wait, 0s) << i;
      ASSERT_LE(wait, 15min) << i;
    }
  }
}

// Every sum and product that could leave the range of a duration.
TEST(EveryStrategy, SaturatesWithoutAnUpperBound) {
  for (RetrySettings options : all_strategies()) {
    options.backoff.cap = options.pacer.max_interval = Duration::max();
    options.pacer.max_randomization = Duration::max();
    options.backoff.step = options.backoff.jitter.spread = 1'000'000h;
    options.backoff.factor = options.pacer.up_multiplier = 1e9;
    ClientRandom random(1, 0);
    Client client(options, random);
    for (int i = 0; i < 10'000; ++i) ASSERT_GE(client.fail(), 0s) << i;
    if (options.strategy != "fixed") {
      EXPECT_GT(client.fail(), 1'000'000h);
    }
  }
}

// The mean of a wait over many clients, which must be within the bounds.
double mean_wait(const RetrySettings& options, int failure, Duration least, Duration most) {
  constexpr int kSeeds = 5000;
  double sum = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    ClientRandom random(seed, seed % 10);
    Client client(options, random);
    client.fail(failure - 1);
    const Duration wait = client.fail();
    EXPECT_GE(wait, least);
    EXPECT_LE(wait, most);
    sum += to_seconds(wait);
  }
  return sum / kSeeds;
}

// Bounds of some five standard errors.
TEST(ExponentialBackoff, HasItsMeanOverManySeeds) {
  EXPECT_NEAR(mean_wait(retry_settings("exponential"), 2, 0s, 1s), 0.271828, 0.002);
}

TEST(TruncatedBackoff, HasItsMeanAndBoundsOverManySeeds) {
  EXPECT_NEAR(mean_wait(retry_settings("truncated"), 1, 1s, 2s), 1.5, 0.02);
  EXPECT_NEAR(mean_wait(retry_settings("truncated"), 4, 8s, 9s), 8.5, 0.02);
}

TEST(ResponsiveSleeper, HasItsMeanAndBoundsOverManySeeds) {
  EXPECT_NEAR(mean_wait(retry_settings("responsive"), 2, 525ms, 975ms), 0.75, 0.01);
}

}  // namespace
}  // namespace retrystorm
