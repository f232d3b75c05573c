#include "model/retry/retry_policy.h"

#include "model/base/text.h"
#include "model/retry/backoff.h"
#include "tests/support/retry_parts.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using test::kNormal;
using test::kNormalU;
using test::kNormalV;
using test::settings_of;

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
  void fail(int times) {
    for (int i = 0; i < times; ++i) fail();
  }

  const RetryMetrics& metrics() const { return metrics_; }

 private:
  RetryPolicy policy_;
  Random& random_;
  TimePoint now_{1h};
  RetryState state_;
  RetryMetrics metrics_;
};

// What a client does, and how long it waits then:
//
//   4F:100ms  four attempts fail, and are retried after so long each
//   X:2s      one fails, its request is given up, and so long is waited
//   S:0s      one succeeds, and the next request begins
//   T:1s      another request begins, after a think time of 1 s
//
// Without a wait: however long it is. No other random numbers are drawn than the given ones, and all of these.
struct Course {
  std::string settings;
  std::vector<double> uniforms;
  std::string steps;
  // Of the pacer, and all waits. Below 0: however many.
  int ups = -1, downs = -1, sleeps = -1;
};

void expect_course(const Course& course) {
  SCOPED_TRACE(course.settings + course.steps);
  test::ScriptedRandom random(course.uniforms);
  Client client(settings_of<RetrySettings>(course.settings), random);
  Duration waited{};
  std::uint64_t attempts = 0;
  for (const std::string_view step : split(course.steps, ' ')) {
    const std::size_t place = step.find_first_of("FXST"), colon = step.find(':');
    const char what = step[place];
    const int times = place == 0 ? 1 : std::stoi(std::string(step));
    const std::optional<Duration> time =
        colon == step.npos ? std::nullopt : std::optional(parse_duration(step.substr(colon + 1)));
    for (int i = 0; i < times; ++i) {
      if (what == 'T') {
        client.begin(*time);
        continue;
      }
      const Decision decision = client.after(what == 'S' ? AttemptResult() : timed_out(2s));
      if (what == 'S') client.begin();
      if (what != 'S') {
        EXPECT_EQ(decision.retry, what == 'F') << step;
      }
      if (what == 'X') {
        EXPECT_EQ(decision.gave_up, GiveUp::kAttempts) << step;
      }
      if (time) {
        EXPECT_EQ(decision.wait, *time) << step << ' ' << i;
      }
      ++attempts;
      waited += decision.wait;
    }
  }
  EXPECT_EQ(random.left(), 0);
  EXPECT_EQ(client.metrics().invocations, attempts);
  EXPECT_EQ(client.metrics().total_sleep, waited);
  if (course.ups >= 0) {
    EXPECT_EQ(client.metrics().ups, course.ups);
  }
  if (course.downs >= 0) {
    EXPECT_EQ(client.metrics().downs, course.downs);
  }
  if (course.sleeps >= 0) {
    EXPECT_EQ(client.metrics().sleeps, course.sleeps);
  }
}

const std::string kFixed = "strategy = fixed\n", kLinear = "strategy = linear\n";
const std::string kExponential = "strategy = exponential\n";
const std::string kPlain = kExponential + "jitter = 0\n";
const std::string kTruncated = "strategy = truncated\n", kResponsive = "strategy = responsive\n";

// A pacer without randomness.
std::string paced(const std::string& initial, double up, double down, int threshold) {
  return kResponsive + "randomization = 0\ninitial-interval = " + initial +
         "\nup-multiplier = " + print_number(up) + "\ndown-multiplier = " + print_number(down) +
         "\ndown-threshold = " + std::to_string(threshold) + '\n';
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

TEST(RetryPolicy, WaitsAsItsStrategySays) {
  for (const Course& course : std::vector<Course>{
           {kFixed, {}, "4F:100ms S:0s F:100ms"},
           {kFixed, {}, "3F:100ms S:0s", 0, 0, 3},
           {kFixed + "backoff-base = 0s\n", {}, "F:0s"},
           {kLinear + "backoff-step = 250ms\n", {}, "F:1s F:1250ms F:1500ms F:1750ms"},
           {kLinear, {}, "298F F:299s 3F:5m"},
           {kLinear, {}, "5F S:0s F:1s F:2s"},
           // 0.1 s times powers of 2.71828, each rounded to a nanosecond, and then 5 minutes.
           {kPlain,
            {},
            "F:100ms F:271828us F:738904616ns F:2008549640ns F:5459800315ns F:14841266000ns "
            "F:40342716542ns F:109662799522ns F:298094194685ns 2F:5m"},
           {kPlain, {}, "5F S:0s F:100ms F:271828us"},
           {kPlain + "backoff-cap = 40ms\n", {}, "2F:40ms"},
           // The first wait has no jitter. 271.828 ms * (1 + 0.1 * 1.66511)
           {kExponential, {}, "F:100ms"},
           {kExponential, {kNormalU, kNormalV}, "F F:317090331ns"},
           // The maximum bounds the wait before the jitter: 300 s * 1.166511
           {kExponential + "backoff-base = 200s\n",
            {kNormalU, kNormalV, kNormalU, kNormalV},
            "F 2F:349953276669ns"},
           // A normal variate of -1.66511.
           {kExponential + "jitter = 1\n", {0.25, 0.5}, "F F:0s"},
           // As the original's code does: the first retry comes after 2.7 think times.
           {kPlain + "backoff-from = think-time\n",
            {},
            "T:10s F:27182800us F:73890461584ns F:200854963915ns T:1s F:2718280us"},
           {kExponential + "backoff-from = think-time\n",
            {kNormalU, kNormalV},
            "T:100ms F:317090331ns"},
           {kTruncated, {0, 0.5, 0.25, 0.75, 0.125}, "F:1s F:2500ms F:4250ms F:8750ms F:16125ms"},
           // The maximum includes the random part.
           {kTruncated, {0, 0, 0, 0, 0, 0.5, 0.99}, "F:1s F:2s F:4s F:8s F:16s 2F:32s"},
           {kTruncated, {0, 0, 0, 0.5}, "3F S:0s F:1500ms"},
           {kTruncated, {0, 0, 0, 0, 0, 0, 0}, "F:1s F:2s F:4s F:8s F:16s 2F:32s X:0s"},
           // As many retries as are allowed, for each request; without a number, there is no limit.
           {kFixed + "max-retries = 0\n", {}, "X:0s T:10s X:0s"},
           {kFixed + "max-retries = 1\n", {}, "F:100ms X:0s T:10s F:100ms X:0s"},
           {kFixed + "max-retries = 3\n", {}, "3F:100ms X:0s T:10s 3F:100ms X:0s"},
           {kFixed, {}, "10000F:100ms"}}) {
    expect_course(course);
  }
}

TEST(ExponentialBackoff, GrowsFromTheJitteredWait) {
  ScriptedRandom random{kNormalU, kNormalV, 0.25, 0.5};
  Client client(retry_settings("exponential"), random);
  client.fail(2);
  // 317.090331 ms * 2.71828 * (1 - 0.1 * 1.66511)
  EXPECT_NEAR(to_seconds(client.fail()), 0.86194030495 * (1 - 0.1 * kNormal), 2e-9);
  EXPECT_EQ(random.left(), 0);
}

// A wait that the jitter cut off at 0 is no reason to retry without a pause for ever.
TEST(ExponentialBackoff, KeepsGrowingAfterAWaitThatWasCutOff) {
  ScriptedRandom random{0.25, 0.5, kNormalU, kNormalV};
  Client client(settings_of<RetrySettings>(kExponential + "jitter = 1\nbackoff-factor = 2\n"),
                random);
  client.fail();
  EXPECT_EQ(client.fail(), 0s);
  EXPECT_NEAR(to_seconds(client.fail()), 0.4 * (1 + kNormal), 1e-8);
}

TEST(ResponsiveSleeper, StepsUpAndDown) {
  for (
      const Course& course : std::vector<Course>{
          // The original's tests.
          {paced("10us", 1.1, 0.9, 10), {}, "F:10us S:10us F:11us F:12100ns"},
          {paced("1us", 2, 0.5, 5),
           {},
           "F:1us F:2us F:4us F:8us F:16us 4S:16us 5S:8us 5S:4us 5S:2us 5S:1us 6S:0s",
           5,
           5,
           30},
          // It does nothing while nothing fails.
          {kResponsive, {}, "50S:0s", 0, 0, 0},
          // Failures do not reset the count of successes.
          {paced("1s", 2, 0.5, 3), {}, "2F 2S:2s F:4s S:2s", -1, 1},
          {paced("1s", 2, 0.5, 3), {}, "2F 2S:2s F:4s 3S:2s S:1s", -1, 2},
          // It stops under the initial interval, and starts there again.
          {paced("500ms", 1.5, 0.9, 1), {}, "F:500ms 2S:0s F:500ms"},
          {paced("1s", 2, 0.5, 1), {}, "2F S:1s S:0s"},
          // It draws each step up but the first: 750 - 225 ms, 787.5 ms in the middle, 1181.25 + 177.1875 ms.
          {kResponsive, {0, 0.5, 0.75}, "F:500ms F:525ms F:787500us F:1358437500ns"},
          // And each step down: from 500, 750, 1125 ms to 1012.5 ms and half of 303.75 ms.
          {kResponsive + "down-threshold = 1\n", {0.5, 0.5, 0.75}, "3F S:1164375us"},
          // No more than the maximum around: 15 min - 2 min, though 30 % are 4.5 min; 19.5 min + 1 min.
          {kResponsive + "initial-interval = 10m\nmax-interval = 10h\n",
           {0, 0.75},
           "F F:13m F:20m30s"},
          {kResponsive + "initial-interval = 14m\n", {0.5, 0.99}, "F 2F:15m"},
          // Giving up is one failure.
          {paced("1s", 2, 0.5, 5) + "max-retries = 1\n", {}, "F:1s X:2s", 2},
          // The pause comes beside the backoff.
          {paced("1s", 2, 0.5, 5) + "growth = linear\nbackoff-base = 10s\nbackoff-step = 100s\n",
           {},
           "F:11s F:112s F:214s S:4s"}}) {
    expect_course(course);
  }
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

Duration wait_of(HintUse use, Duration own, std::optional<Duration> hint, Random& random,
                 Duration longest = Duration::max()) {
  return with_hint({.use = use, .longest = longest}, own, hint, random);
}

TEST(Hint, IsUsedAsEachLibraryDoes) {
  ScriptedRandom nothing{};
  EXPECT_EQ(wait_of(HintUse::kIgnore, 400ms, 2s, nothing), 400ms);
  EXPECT_EQ(wait_of(HintUse::kReplace, 400ms, 2s, nothing), 2s);
  EXPECT_EQ(wait_of(HintUse::kReplace, 400ms, 0s, nothing), 0s);
  EXPECT_EQ(wait_of(HintUse::kAtLeast, 400ms, 2s, nothing), 2s);
  EXPECT_EQ(wait_of(HintUse::kAtLeast, 3s, 2s, nothing), 3s);
  EXPECT_EQ(wait_of(HintUse::kClamp, 400ms, 2s, nothing), 2s);
  EXPECT_EQ(wait_of(HintUse::kClamp, 400ms, 10s, nothing), 5400ms);
  EXPECT_EQ(wait_of(HintUse::kClamp, 3s, 2s, nothing), 3s);
  ScriptedRandom random{0, 0.5};
  EXPECT_EQ(wait_of(HintUse::kSpread, 400ms, 2s, random), 2s);
  EXPECT_EQ(wait_of(HintUse::kSpread, 400ms, 2s, random), 2500ms);
}

TEST(Hint, ChangesNothingIfItIsMissing) {
  ScriptedRandom nothing{};
  for (const HintUse use :
       {HintUse::kReplace, HintUse::kAtLeast, HintUse::kClamp, HintUse::kSpread}) {
    EXPECT_EQ(wait_of(use, 400ms, std::nullopt, nothing), 400ms);
  }
}

TEST(Hint, HasABound) {
  ScriptedRandom nothing{};
  EXPECT_EQ(wait_of(HintUse::kReplace, 400ms, 1h, nothing, 30s), 30s);
  EXPECT_EQ(wait_of(HintUse::kReplace, 400ms, Duration::max(), nothing), Duration::max());
}

TEST(Hint, IsAskedForByTheAnswer) {
  RetrySettings settings = retry_settings("fixed");
  settings.hint.use = HintUse::kReplace;
  const RetryPolicy policy(settings);
  ScriptedRandom nothing{};
  RetryState state;
  RetryMetrics metrics;
  policy.begin_request(state, 10s);
  EXPECT_EQ(
      policy.after(TimePoint(1h), answered(429, 7s, 1ms), state, nullptr, nothing, metrics).wait,
      7s);
  EXPECT_EQ(policy.after(TimePoint(1h), timed_out(2s), state, nullptr, nothing, metrics).wait,
            100ms);
}

}  // namespace
}  // namespace retrystorm
