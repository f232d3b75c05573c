#include "model/retry/strategies.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

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
