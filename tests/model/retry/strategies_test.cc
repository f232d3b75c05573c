#include "model/retry/strategies.h"

#include "model/retry/retry_policy.h"
#include "model/retry/retry_settings.h"
#include "tests/support/refusal.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

TEST(Strategies, AreSortedAndNameTheirSources) {
  std::string before;
  for (const NamedStrategy& each : named_strategies()) {
    EXPECT_LT(before, each.name);
    before = each.name;
    EXPECT_FALSE(each.summary.empty()) << each.name;
    EXPECT_FALSE(each.source.empty()) << each.name;
    EXPECT_FALSE(each.date.empty()) << each.name;
    EXPECT_EQ(retry_settings(each.name).strategy, each.name);
  }
}

// The programs' defaults are not read from a file. They must be equal to those of fixed.ini.
TEST(Strategies, FixedIsTheDefault) {
  const RetrySettings fixed = retry_settings("fixed");
  const RetrySettings defaults;
  EXPECT_EQ(defaults.strategy, fixed.strategy);
  EXPECT_EQ(defaults.backoff.growth, fixed.backoff.growth);
  EXPECT_EQ(defaults.backoff.base, fixed.backoff.base);
  EXPECT_EQ(defaults.limit.max_retries, fixed.limit.max_retries);
}

// The waits of each library if every random number is in the middle, and whether there are more.
TEST(Strategies, WaitAsTheirLibrariesDo) {
  test::SameRandom random(0.5);
  struct Case {
    const char* strategy;
    AttemptResult failure;
    std::vector<Duration> waits;
    bool gives_up;
  };
  const AttemptResult late = timed_out(2s), lost = not_connected(1ms),
                      busy = answered(429, std::nullopt, 1ms);
  const Case cases[] = {
      {"aws-legacy", late, {500ms, 1s, 2s, 4s}, true},
      {"aws-legacy-dynamodb",
       late,
       {50ms, 100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms, 6400ms, 12800ms},
       true},
      {"aws-standard-2025", late, {500ms, 1s}, true},
      {"aws-standard", late, {25ms, 50ms}, true},
      {"aws-standard", busy, {500ms, 1s}, true},
      // Retry-After may make a wait up to 5 s longer, and never shorter.
      {"aws-standard", answered(429, 2s, 1ms), {2s, 2s}, true},
      {"aws-standard", answered(429, 20s, 1ms), {5500ms, 6s}, true},
      {"aws-dynamodb", answered(500, 20s, 1ms), {5012500us, 5025ms, 5050ms}, true},
      {"aws-adaptive", answered(500, 2s, 1ms), {2s, 2s}, true},
      {"aws-standard-2025", answered(429, 2s, 1ms), {500ms, 1s}, true},
      {"aws-cpp-2025",
       late,
       {0s, 50ms, 100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms, 6400ms, 12800ms},
       true},
      {"aws-java-2025", late, {50ms, 100ms, 200ms}, true},
      {"aws-java-2025", busy, {250ms, 500ms, 1s}, true},
      {"aws-java-2025-dynamodb",
       late,
       {12500us, 25ms, 50ms, 100ms, 200ms, 400ms, 800ms, 1600ms},
       true},
      {"aws-java-2025-dynamodb", busy, {250ms, 500ms, 1s, 2s, 4s, 8s, 10s, 10s}, true},
      {"aws-js-2025", late, {50ms, 100ms}, true},
      {"aws-js-2025", busy, {250ms, 500ms}, true},
      {"aws-js-2025", answered(429, 20s, 1ms), {20s, 20s}, true},
      {"anthropic", late, {437500us, 875ms}, true},
      {"anthropic", answered(429, 100s, 1ms), {100s, 100s}, true},
      {"openai", late, {437500us, 875ms}, true},
      {"openai", answered(503, 100s, 1ms), {100s, 100s}, true},
      {"begin", late, {250ms, 500ms}, true},  // of docs/how-do-i.md: half of 500 ms, doubled
      {"resilience4j-retry", late, {500ms, 500ms}, true},
      {"azure", late, {800ms, 1600ms, 3200ms}, true},
      {"azure", answered(503, 2s, 1ms), {2s, 2s, 3200ms}, true},
      {"go-retryablehttp", late, {1s, 2s, 4s, 8s}, true},
      {"go-retryablehttp", answered(429, 60s, 1ms), {60s, 60s, 60s, 60s}, true},
      {"aws-dynamodb", late, {12500us, 25ms, 50ms}, true},
      {"aws-adaptive", busy, {500ms, 1s}, true},
      {"cenkalti", late, {500ms, 750ms, 1125ms, 1687500us}, false},
      {"cenkalti", answered(429, 2s, 1ms), {2s, 2s, 2s}, false},
      {"envoy", late, {12500us}, true},
      {"envoy-budget", late, {12500us}, true},
      {"google-cloud", lost, {500ms, 1s, 2s, 4s, 8s, 16s, 30s, 30s}, false},
      {"grpc", lost, {100ms, 200ms, 400ms}, true},
      {"grpc-connect", late, {1s, 1600ms, 2560ms, 4096ms}, false},
      {"google-cloud-docs", late, {1500ms, 2500ms, 4500ms, 8500ms, 16500ms, 32s, 32s, 32s}, false},
      {"hbase",
       late,
       {100500us, 201ms, 301500us, 502500us, 1005ms, 2010ms, 4020ms, 10050ms, 10050ms, 10050ms,
        10050ms, 20100ms, 20100ms, 20100ms, 20100ms},
       true},
      {"finagle", lost, {0s, 0s, 0s}, false},
      {"linkerd", answered(500, std::nullopt, 1ms), {0s, 0s, 0s}, false},
      {"polly", answered(503, 5s, 1ms), {5s, 5s, 5s}, true},
      {"resilience4j", late, {500ms, 500ms}, true},
      {"retryguard", late, {12500us, 25ms, 50ms}, true},
      {"sre-throttling", late, {0s, 0s}, true},
      {"urllib3", late, {0s, 0s, 0s}, true},
      {"urllib3", answered(503, 10h, 1ms), {6h, 6h, 6h}, true},
      {"netflix", late, {}, true},
  };
  for (const Case& each : cases) {
    const RetryPolicy policy(retry_settings(each.strategy));
    RetryState state;
    RetryMetrics metrics;
    policy.begin_request(state, 10s);
    const auto fail = [&] {
      return policy.after(TimePoint(1h), each.failure, state, nullptr, random, metrics);
    };
    for (const Duration wait : each.waits) EXPECT_EQ(fail().wait, wait) << each.strategy;
    EXPECT_EQ(fail().gave_up.has_value(), each.gives_up) << each.strategy;
  }
}

// Statuses with a + have a Retry-After. "lost" is a connection refused or reset, "late" is no answer.
TEST(Strategies, RetryWhatTheirLibrariesDo) {
  const std::pair<const char*, AttemptResult> failures[] = {
      {"404", answered(404, std::nullopt, 1ms)},
      {"408", answered(408, std::nullopt, 1ms)},
      {"409", answered(409, std::nullopt, 1ms)},
      {"413+", answered(413, 1s, 1ms)},
      {"429", answered(429, std::nullopt, 1ms)},
      {"429+", answered(429, 1s, 1ms)},
      {"500", answered(500, std::nullopt, 1ms)},
      {"501", answered(501, std::nullopt, 1ms)},
      {"502", answered(502, std::nullopt, 1ms)},
      {"503", answered(503, std::nullopt, 1ms)},
      {"503+", answered(503, 1s, 1ms)},
      {"504", answered(504, std::nullopt, 1ms)},
      {"509", answered(509, std::nullopt, 1ms)},
      {"lost", not_connected(1ms)},
      {"late", timed_out(2s)},
  };
  const char* const common = "408 429 429+ 500 502 503 503+ 504 509 lost late";
  const char* const aws_legacy = "429 429+ 500 502 503 503+ 504 509 lost late";
  const char* const aws = "429 429+ 500 502 503 503+ 504 lost late";
  const char* const envoy = "502 503 503+ 504 lost late";
  const std::pair<const char*, const char*> cases[] = {
      {"fixed", common},
      {"resilience4j", common},
      {"aws-legacy", aws_legacy},
      {"aws-legacy-dynamodb", aws_legacy},
      {"aws-standard-2025", aws},
      {"aws-standard", aws},
      {"aws-dynamodb", aws},
      {"aws-adaptive", aws},
      {"aws-cpp-2025", "408 429 429+ 500 502 503 503+ 504 509 lost late"},
      {"aws-java-2025", aws},
      {"aws-java-2025-dynamodb", aws},
      {"aws-js-2025", aws},
      {"anthropic", "408 409 429 429+ 500 501 502 503 503+ 504 509 lost late"},
      {"openai", "408 409 429 429+ 500 501 502 503 503+ 504 509 lost late"},
      {"begin", common},
      {"resilience4j-retry", common},
      {"azure", "408 429 429+ 500 502 503 503+ 504 lost late"},
      {"cenkalti", "413+ 429+ 500 501 502 503 503+ 504 509 lost late"},
      {"envoy", envoy},
      {"envoy-budget", envoy},
      {"finagle", "503 503+ lost"},
      {"go-retryablehttp", "429 429+ 500 502 503 503+ 504 509 lost late"},
      {"google-cloud", "429 429+ 500 503 503+ lost"},
      {"grpc", "429 429+ 502 503 503+ 504 lost"},
      {"grpc-connect", "lost late"},
      {"linkerd", "500 501 502 503 503+ 504 509"},
      {"retryguard", "500 501 502 503 503+ 504 509 lost late"},
      {"polly", "408 429 429+ 500 501 502 503 503+ 504 509 lost late"},
      {"urllib3", "413+ 429+ 503+ lost late"},
      {"none", ""},
      {"netflix", ""},
  };
  for (const auto& [strategy, expected] : cases) {
    const RetryPolicy policy(retry_settings(strategy));
    test::SameRandom random(0.5);
    std::string retried;
    for (const auto& [name, failure] : failures) {
      RetryState state;
      RetryMetrics metrics;
      policy.begin_request(state, 10s);
      if (!policy.after(TimePoint(1h), failure, state, nullptr, random, metrics).retry) continue;
      retried += (retried.empty() ? "" : " ") + std::string(name);
    }
    EXPECT_EQ(retried, expected) << strategy;
  }
}

// With all random numbers in the middle and failures that take no time: the ninth wait, of 30 s,
// would end after 121.5 s.
TEST(Strategies, GoogleCloudStopsBeforeTheWaitThatPassesItsDeadline) {
  test::SameRandom random(0.5);
  const RetryPolicy policy(retry_settings("google-cloud"));
  RetryState state;
  RetryMetrics metrics;
  TimePoint now(1h);
  policy.begin_request(state, 10s);
  RetryPolicy::begin(state, now);
  int retries = 0;
  for (;; ++retries) {
    const Decision decision = policy.after(now, not_connected(0s), state, nullptr, random, metrics);
    if (!decision.retry) {
      EXPECT_EQ(decision.gave_up, GiveUp::kDeadline);
      break;
    }
    now += decision.wait;
  }
  EXPECT_EQ(retries, 8);
  EXPECT_EQ(now, TimePoint(1h) + 91500ms);
}

TEST(Strategies, RefuseAnUnknownNameWithTheKnownOnes) {
  test::expect_refusals([](const std::string& name) { retry_settings(name); },
                        {{"exponental", "did you mean exponential?"}, {"exponental", "truncated"}});
}

TEST(OptionList, SetsByAnyNameAndSaysWhatIsWrong) {
  RetrySettings settings;
  OptionList options;
  declare_options(options, settings);
  options.apply("# a comment\n\n strategy = exponential \r\n; another\nfixed-delay=3s");
  EXPECT_EQ(settings.strategy, "exponential");
  EXPECT_EQ(settings.backoff.base, 3s);
  test::expect_refusals([&options](const std::string& text) { options.apply(text); },
                        {{"grwoth = linear", "did you mean growth?"},
                         {"growth linear", "is not NAME = VALUE"},
                         {"growth = quadratic", "growth: 'quadratic'"},
                         {"jitter = normal:-1", "jitter: '-1'"}});
}

std::string title_of(const std::string& text) {
  RetrySettings settings = options_from<RetrySettings>(text);
  return retries_title(settings);
}

TEST(Title, IsTheStrategysNameIfNothingElseIsSet) {
  EXPECT_EQ(title_of(""), "fixed retries");
  EXPECT_EQ(title_of("strategy = grpc"), "grpc retries");
  // The strategy's own value is no change.
  EXPECT_EQ(title_of("strategy = grpc\nmax-retries = 3"), "grpc retries");
}

TEST(Title, TellsAStrategyFromTheGrowthOfItsName) {
  // The values of strategies/exponential.ini.
  EXPECT_EQ(retries_in_words(retry_settings("exponential")),
            "exponential from 100ms x 2.71828 up to 5m, normal:0.1 jitter, any number of retries");
}

TEST(Title, ListsTheSettingsWhereTheNameNoLongerFits) {
  const std::pair<const char*, const char*> cases[] = {
      {"growth = exponential\njitter = full\nmax-retries = 5\nretry-budget = 10%",
       "exponential from 100ms x 2, full jitter, 5 retries, budget 10 %"},
      {"max-retries = 1", "constant 100ms, 1 retry"},
      {"max-retries = 0\nbreaker = resilience4j", "no retries, breaker resilience4j"},
      {"strategy = none\nmax-retries = 3", "constant 100ms, 3 retries"},
      {"strategy = exponential\nbackoff-cap = 30s",
       "exponential from 100ms x 2.71828 up to 30s, normal:0.1 jitter, any number of retries"},
      {"strategy = linear\nbackoff-step = 2s",
       "linear from 1s by 2s up to 5m, any number of retries"},
      {"jitter = decorrelated\nretry-budget = envoy\ndeadline = 5s",
       "decorrelated from 100ms, any number of retries, deadline 5s, budget envoy"},
      {"strategy = responsive\nup-multiplier = 2", "paced from 500ms x 2, any number of retries"},
      {"growth = none\nthrottle = sre\nconcurrency-limit = aimd\nclient-rate = aws-adaptive",
       "at once, any number of retries, throttle sre, a concurrency limit, a client rate"},
      {"max-retries = 1\nclient-rate = 600/min", "constant 100ms, 1 retry, 10/s for a process"},
  };
  for (const auto& [settings, title] : cases) EXPECT_EQ(title_of(settings), title);
}

}  // namespace
}  // namespace retrystorm
