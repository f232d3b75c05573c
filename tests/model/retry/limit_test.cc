// When requests are given up, and why.

#include "model/retry/retry_on.h"
#include "model/retry/retry_policy.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

RetrySettings settings_of(const std::string& lines) {
  RetrySettings settings = options_from<RetrySettings>(lines);
  return settings;
}

// One client of a policy without processes. Each of its waits moves the time on.
class LimitedClient {
 public:
  explicit LimitedClient(const std::string& settings) : policy_(settings_of(settings)) {
    policy_.begin_request(state_, 10s);
  }

  Permission::Kind ask() { return policy_.may_send(now_, state_, nullptr, random_).kind; }
  Duration time_left() const { return policy_.time_left(now_, state_); }
  // Sends an attempt with this result, and waits as the policy decides.
  Decision after(const AttemptResult& result) {
    EXPECT_EQ(ask(), Permission::Kind::kSend);
    now_ += result.latency;
    const Decision decision = policy_.after(now_, result, state_, nullptr, random_, metrics_);
    now_ += decision.wait;
    return decision;
  }
  Decision too_late() {
    return policy_.after_refusal(now_, Permission::Kind::kTooLate, state_, nullptr, random_,
                                 metrics_);
  }
  TimePoint now() const { return now_; }

 private:
  RetryPolicy policy_;
  ScriptedRandom random_{};  // throws when it is drawn from
  TimePoint now_{1h};
  RetryState state_;
  RetryMetrics metrics_;
};

TEST(Limit, CountsAttemptsOrRetries) {
  EXPECT_EQ(settings_of("max-attempts = 4").limit.max_retries, 3u);
  EXPECT_EQ(settings_of("max-attempts = 1").limit.max_retries, 0u);
  EXPECT_EQ(settings_of("max-attempts = none").limit.max_retries, LimitSettings::kUnlimited);
  EXPECT_EQ(settings_of("max-attempts = unlimited").limit.max_retries, LimitSettings::kUnlimited);
  EXPECT_THROW(settings_of("max-attempts = 0"), std::invalid_argument);
  LimitSettings limit{.max_retries = 2};
  OptionList list;
  declare_options(list, limit);
  EXPECT_EQ(list.find("max-attempts")->get(), "3");
  limit.max_retries = LimitSettings::kUnlimited;
  EXPECT_EQ(list.find("max-attempts")->get(), "none");
}

TEST(Limit, HasNoDeadlineUnlessGiven) {
  LimitedClient client("strategy = fixed\n");
  EXPECT_EQ(client.time_left(), Duration::max());
  EXPECT_EQ(client.ask(), Permission::Kind::kSend);
}

TEST(Deadline, BeforeWaitAllowsAWaitThatEndsWithIt) {
  LimitedClient client("fixed-delay = 1s\ndeadline = 1s\n");
  EXPECT_TRUE(client.after(not_connected(0s)).retry);
  EXPECT_EQ(client.ask(), Permission::Kind::kTooLate);
}

// gRPC sleeps although the wait passes the deadline, and gives up at the deadline.
TEST(Deadline, AtEndWaitsForIt) {
  LimitedClient client("fixed-delay = 700ms\ndeadline = 1s\ndeadline-check = at-end\n");
  const TimePoint start = client.now();
  EXPECT_EQ(client.after(not_connected(0s)).wait, 700ms);
  const Decision cut = client.after(not_connected(100ms));
  EXPECT_TRUE(cut.retry);
  EXPECT_EQ(cut.wait, 200ms);
  EXPECT_EQ(client.now() - start, 1s);
  EXPECT_EQ(client.ask(), Permission::Kind::kTooLate);
  const Decision end = client.too_late();
  EXPECT_EQ(end.gave_up, GiveUp::kDeadline);
  EXPECT_FALSE(end.retry);
}

TEST(Deadline, CountsFromTheFirstRequestForPermission) {
  LimitedClient client("fixed-delay = 100ms\ndeadline = 5s\n");
  EXPECT_EQ(client.ask(), Permission::Kind::kSend);
  EXPECT_EQ(client.time_left(), 5s);
  EXPECT_TRUE(client.after(timed_out(2s)).retry);
  EXPECT_EQ(client.time_left(), 2900ms);
  EXPECT_TRUE(client.after(timed_out(2s)).retry);
  EXPECT_EQ(client.time_left(), 800ms);
  // The last attempt lasts no longer than what is left, and nothing comes after it.
  EXPECT_EQ(client.after(timed_out(800ms)).gave_up, GiveUp::kDeadline);
}

// A request that has no attempts and no time left is counted as out of attempts.
TEST(Limit, GivesTheFirstReason) {
  LimitedClient client("max-retries = 0\ndeadline = 1s\n");
  EXPECT_EQ(client.after(timed_out(1s)).gave_up, GiveUp::kAttempts);
  LimitedClient permanent("max-retries = 0\n");
  EXPECT_EQ(permanent.after(answered(404, std::nullopt, 1s)).gave_up, GiveUp::kNotRetryable);
}

TEST(Limit, RetriesOnlyTheFailuresOfItsList) {
  LimitedClient client("retry-on = 404+transport\n");
  EXPECT_TRUE(client.after(answered(404, std::nullopt, 1ms)).retry);
  EXPECT_TRUE(client.after(not_connected(1ms)).retry);
  EXPECT_EQ(client.after(timed_out(2s)).gave_up, GiveUp::kNotRetryable);
  LimitedClient never("retry-on = none\n");
  EXPECT_EQ(never.after(not_connected(1ms)).gave_up, GiveUp::kNotRetryable);
}

// A budget is charged for every failure that is retried, and for no other.
TEST(Limit, ChargesBudgetsForRetriedFailuresOnly) {
  const RetryPolicy policy(settings_of("retry-on = 404\nretry-budget = grpc\nfixed-delay = 0s\n"));
  const auto process = policy.make_process(TimePoint{});
  ScriptedRandom random{};
  RetryMetrics metrics;
  const auto fail = [&](int status) {
    RetryState state;
    policy.begin_request(state, 0s);
    policy.may_send(TimePoint{}, state, process.get(), random);
    return policy.after(TimePoint{}, answered(status, std::nullopt, 1ms), state, process.get(),
                        random, metrics);
  };
  for (int i = 0; i < 100; ++i) EXPECT_EQ(fail(503).gave_up, GiveUp::kNotRetryable);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(fail(404).retry) << i;
  EXPECT_EQ(fail(404).gave_up, GiveUp::kBudget);
}

// A retry that the deadline stops is not paid for.
TEST(Limit, ChargesNoBudgetForRetriesThatComeTooLate) {
  const RetryPolicy policy(
      settings_of("retry-budget = aws\nfixed-delay = 2s\ndeadline = 1s\nmax-retries = 2\n"));
  const auto process = policy.make_process(TimePoint{});
  ScriptedRandom random{};
  RetryMetrics metrics;
  for (int i = 0; i < 1000; ++i) {
    RetryState state;
    policy.begin_request(state, 0s);
    policy.may_send(TimePoint{}, state, process.get(), random);
    EXPECT_EQ(policy.after(TimePoint{}, not_connected(1ms), state, process.get(), random, metrics)
                  .gave_up,
              GiveUp::kDeadline);
  }
}

TEST(Limit, HasNoUseForADeadlinesCheckWithoutADeadline) {
  LimitSettings limit{.deadline_check = DeadlineCheck::kAtEnd};
  EXPECT_TRUE(unused_of_part(limit).contains("deadline-check"));
  limit.deadline = 1s;
  EXPECT_TRUE(unused_of_part(limit).empty());
}

}  // namespace
}  // namespace retrystorm
