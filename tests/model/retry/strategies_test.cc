#include "model/retry/strategies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

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
