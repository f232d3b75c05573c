#include "model/retry/hint.h"

#include <gtest/gtest.h>

#include "model/retry/retry_after.h"
#include "model/retry/retry_policy.h"
#include "tests/support/scripted_random.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;
using test::ScriptedRandom;

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

TEST(Hint, ThatIsMissingChangesNothing) {
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

// Unix time of the example of RFC 9110.
constexpr std::int64_t kNovember = 784111777;

TEST(RetryAfter, IsSecondsOrADate) {
  EXPECT_EQ(parse_retry_after("0", kNovember), 0s);
  EXPECT_EQ(parse_retry_after("120", kNovember), 2min);
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", kNovember), 0s);
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:50:07 GMT", kNovember), 30s);
  EXPECT_EQ(parse_retry_after("Mon, 07 Nov 1994 08:49:37 GMT", kNovember), 24h);
  EXPECT_EQ(parse_retry_after("Sat, 05 Nov 1994 08:49:37 GMT", kNovember), 0s);  // past
}

TEST(RetryAfter, IgnoresGarbage) {
  for (const char* text : {"", " ", "-1", "+5", "1.5", "5s", "soon", "99999999999", "1000000001",
                           "0x10", "Sun, 06 Nov 1994 08:49:37", "Sun, 31 Feb 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 08:49:3x GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                           "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(parse_retry_after(text, kNovember), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace retrystorm
