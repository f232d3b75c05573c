#include "model/retry/retry_policy.h"
#include "model/retry/retry_settings.h"
#include "tests/support/retry_parts.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using test::kStart;
using test::settings_of;

TEST(ProcessSettings, MakeNoPartsByDefault) {
  EXPECT_FALSE(ProcessSettings().any());
  EXPECT_EQ(make_process(ProcessSettings(), kStart), nullptr);
  EXPECT_FALSE(RetryPolicy(RetrySettings()).has_process());
}

TEST(ProcessSettings, MakeThePartsThatAreOn) {
  for (const char* gate : {"breaker = polly", "throttle = sre", "concurrency-limit = fixed:3",
                           "client-rate = aws-adaptive"}) {
    const auto settings = settings_of<ProcessSettings>(gate);
    EXPECT_TRUE(settings.any()) << gate;
    const auto process = make_process(settings, kStart);
    EXPECT_EQ(process->gates.size(), 1u) << gate;
    EXPECT_EQ(process->budget, nullptr) << gate;
  }
  const auto settings = settings_of<ProcessSettings>("retry-budget = grpc");
  EXPECT_NE(make_process(settings, kStart)->budget, nullptr);
  EXPECT_THROW(settings_of<ProcessSettings>("throttle-padding = 3"), std::invalid_argument);
}

// If a later gate refuses an attempt, the earlier ones do not count it.
TEST(ProcessSettings, RefusalsDoNotCountInTheOtherGates) {
  RetrySettings settings = retry_settings("fixed");
  settings.process =
      settings_of<ProcessSettings>("concurrency-limit = fixed:1\nbreaker = gobreaker");
  const RetryPolicy policy(settings);
  const auto process = policy.make_process(kStart);
  RetryMetrics metrics;
  ScriptedRandom none{};
  const auto sends = [&](TimePoint now, RetryState& state) {
    return policy.may_send(now, state, process.get(), none).kind == Permission::Kind::kSend;
  };
  RetryState state;
  for (int i = 0; i < 6; ++i) {
    policy.begin_request(state, 0s);
    EXPECT_TRUE(sends(kStart, state));
    policy.after(kStart, timed_out(0s), state, process.get(), none, metrics);
  }
  // The breaker is open: the place under the limit is given back each time.
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(sends(kStart, state));
  EXPECT_TRUE(sends(kStart + 61s, state));
  RetryState other;
  policy.begin_request(other, 0s);
  EXPECT_FALSE(sends(kStart + 61s, other));
}

// As AWS's clients of 2026 do for long polls: the quota is empty, and the failure is told after the wait.
TEST(ProcessSettings, ADeniedRetryWaitsWhereItBacksOff) {
  for (const WhenRefused when : {WhenRefused::kGiveUp, WhenRefused::kBackOff}) {
    RetrySettings settings = retry_settings("fixed");
    settings.process = settings_of<ProcessSettings>("retry-budget = tokens\nbudget-tokens = 0");
    settings.when_refused = when;
    EXPECT_TRUE(unused_of_part(settings).empty());
    const RetryPolicy policy(settings);
    const auto process = policy.make_process(kStart);
    RetryMetrics metrics;
    RetryState state;
    ScriptedRandom none{};
    policy.begin_request(state, 0s);
    policy.may_send(kStart, state, process.get(), none);
    const Decision denied =
        policy.after(kStart, timed_out(2s), state, process.get(), none, metrics);
    EXPECT_FALSE(denied.retry);
    EXPECT_EQ(denied.gave_up, GiveUp::kBudget);
    EXPECT_EQ(denied.wait, when == WhenRefused::kBackOff ? 100ms : 0ms);
    EXPECT_EQ(metrics.total_sleep, denied.wait);
  }
}

// A retry that a gate refuses is given back to the budget.
TEST(ProcessSettings, RefusedRetriesAreNotActive) {
  RetrySettings settings = retry_settings("fixed");
  settings.process = settings_of<ProcessSettings>(
      "retry-budget = envoy\nbudget-min-concurrency = 1\nconcurrency-limit = fixed:1");
  const RetryPolicy policy(settings);
  const auto process = policy.make_process(kStart);
  RetryMetrics metrics;
  ScriptedRandom none{};
  RetryState one;
  RetryState other;
  policy.begin_request(one, 0s);
  policy.begin_request(other, 0s);
  const auto may_send = [&](RetryState& state) {
    return policy.may_send(kStart, state, process.get(), none).kind;
  };
  const auto fail = [&](RetryState& state) {
    return policy.after(kStart, timed_out(2s), state, process.get(), none, metrics);
  };
  EXPECT_EQ(may_send(one), Permission::Kind::kSend);
  EXPECT_TRUE(fail(one).retry);
  EXPECT_EQ(may_send(other), Permission::Kind::kSend);
  EXPECT_EQ(may_send(one), Permission::Kind::kRefused);
  EXPECT_EQ(
      policy.after_refusal(kStart, Permission::Kind::kRefused, one, process.get(), none, metrics)
          .gave_up,
      GiveUp::kGate);
  EXPECT_TRUE(fail(other).retry) << "the one retry at a time is free again";
}

}  // namespace
}  // namespace retrystorm
