#include "model/retry/backoff.h"
#include "model/retry/retry_policy.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

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
