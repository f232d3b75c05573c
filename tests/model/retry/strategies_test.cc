#include "model/retry/strategies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "model/retry/retry_policy.h"
#include "model/retry/retry_settings.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

TEST(Strategies, AreSortedAndTellWhereTheyComeFrom) {
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

TEST(Strategies, HaveTheArticlesAndNone) {
  std::vector<std::string_view> names;
  for (const NamedStrategy& each : named_strategies()) names.push_back(each.name);
  EXPECT_THAT(names,
              IsSupersetOf({"exponential", "fixed", "linear", "none", "responsive", "truncated"}));
}

// What a program starts with has no file of its own: it must be the one it is called by.
TEST(Strategies, FixedIsTheDefault) {
  const RetrySettings fixed = retry_settings("fixed");
  const RetrySettings usual;
  EXPECT_EQ(usual.strategy, fixed.strategy);
  EXPECT_EQ(usual.backoff.growth, fixed.backoff.growth);
  EXPECT_EQ(usual.backoff.base, fixed.backoff.base);
  EXPECT_EQ(usual.limit.max_retries, fixed.limit.max_retries);
}

// The waits of each library with every random number in the middle, and whether that is all.
TEST(Strategies, WaitAsTheirLibrariesDo) {
  struct Middle final : Random {
    double uniform() override { return 0.5; }
  } random;
  struct Case {
    const char* strategy;
    AttemptResult failure;
    std::vector<Duration> waits;
    bool gives_up;
  };
  const AttemptResult late = timed_out(2s), busy = answered(429, std::nullopt, 1ms);
  const Case cases[] = {
      {"aws-legacy", late, {500ms, 1s, 2s, 4s}, true},
      {"aws-legacy-dynamodb",
       late,
       {50ms, 100ms, 200ms, 400ms, 800ms, 1600ms, 3200ms, 6400ms, 12800ms},
       true},
      {"aws-standard-2025", late, {500ms, 1s}, true},
      {"aws-standard", late, {25ms, 50ms}, true},
      {"aws-standard", busy, {500ms, 1s}, true},
      {"azure", late, {800ms, 1600ms, 3200ms}, true},
      {"azure", answered(503, 2s, 1ms), {2s, 2s, 3200ms}, true},
      {"go-retryablehttp", late, {1s, 2s, 4s, 8s}, true},
      {"go-retryablehttp", answered(429, 60s, 1ms), {60s, 60s, 60s, 60s}, true},
      {"aws-dynamodb", late, {12500us, 25ms, 50ms}, true},
      {"aws-adaptive", busy, {500ms, 1s}, true},
      {"grpc", late, {100ms, 200ms, 400ms}, true},
      {"grpc-connect", late, {1s, 1600ms, 2560ms, 4096ms}, false},
      {"google-cloud-docs", late, {1500ms, 2500ms, 4500ms, 8500ms, 16500ms, 32s, 32s, 32s}, false},
      {"hbase",
       late,
       {100500us, 201ms, 301500us, 502500us, 1005ms, 2010ms, 4020ms, 10050ms, 10050ms, 10050ms,
        10050ms, 20100ms, 20100ms, 20100ms, 20100ms},
       true},
      {"finagle", late, {0s, 0s, 0s}, false},
      {"linkerd", late, {0s, 0s, 0s}, false},
      {"resilience4j", late, {500ms, 500ms}, true},
      {"sre-throttling", late, {0s, 0s}, true},
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

TEST(Strategies, RefuseAnUnknownNameWithTheKnownOnes) {
  try {
    retry_settings("exponental");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean exponential?"));
    EXPECT_THAT(error.what(), HasSubstr("truncated"));
  }
}

TEST(OptionList, SetsByAnyNameAndSaysWhatIsWrong) {
  RetrySettings settings;
  OptionList options;
  declare_options(options, settings);
  options.apply("# a comment\n\n strategy = exponential \r\n; another\nfixed-delay=3s");
  EXPECT_EQ(settings.strategy, "exponential");
  EXPECT_EQ(settings.backoff.base, 3s);
  const auto refusal = [&options](const char* text) {
    try {
      options.apply(text);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal("grwoth = linear"), HasSubstr("did you mean growth?"));
  EXPECT_THAT(refusal("growth linear"), HasSubstr("is not NAME = VALUE"));
  EXPECT_THAT(refusal("growth = quadratic"), HasSubstr("growth: 'quadratic' is not known"));
  EXPECT_THAT(refusal("jitter = normal:-1"), HasSubstr("jitter: '-1' is not a number"));
}

TEST(OptionList, GetsWhatItSets) {
  RetrySettings settings;
  OptionList options;
  declare_options(options, settings);
  for (const NamedStrategy& each : named_strategies()) {
    options.set("strategy", each.name);
    for (const Option& option : options.all()) {
      const std::string value = option.get();
      option.set(value);
      EXPECT_EQ(option.get(), value) << each.name << ' ' << option.name;
    }
  }
}

}  // namespace
}  // namespace retrystorm
