#include "model/retry/budgets.h"
#include "tests/support/refusal.h"
#include "tests/support/retry_parts.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using test::kError;
using test::kNotFound;
using test::kOk;
using test::kStart;
using test::kThrottled;
using test::kTimeout;
using test::settings_of;

TokenBudget token_budget(std::string_view settings, TimePoint now = kStart) {
  return TokenBudget(settings_of<BudgetSettings>(settings), now);
}

// An attempt fails: is it retried?
bool fails(RetryBudget& budget, RetryState& state, const AttemptResult& result,
           TimePoint now = kStart) {
  budget.attempt_ended(now, result, state);
  const bool retried = budget.withdraw(now, result, state);
  if (retried) state.count_retry();
  return retried;
}

bool new_request_fails(RetryBudget& budget, const AttemptResult& result, TimePoint now = kStart) {
  RetryState state;
  budget.request_begins(now);
  return fails(budget, state, result, now);
}

int retries_in_a_row(RetryBudget& budget, const AttemptResult& result, TimePoint now = kStart) {
  int retries = 0;
  RetryState state;
  while (fails(budget, state, result, now)) {
    ++retries;
    state.retries = 0;  // as if each were another request's first
  }
  return retries;
}

void succeeds(RetryBudget& budget, TimePoint now = kStart) {
  RetryState state;
  budget.request_begins(now);
  budget.attempt_ended(now, kOk, state);
}

TEST(TokenBudget, PaysForSoManyRetriesAtOnce) {
  struct Row {
    const char* settings;
    const AttemptResult& failure;
    int retries;
  };
  for (const Row& row : {
           // The threshold is half of whatever size the bucket has.
           Row{"retry-budget = grpc", kError, 4},
           Row{"retry-budget = grpc\nbudget-tokens = 100", kError, 49},
           Row{"retry-budget = aws", kError, 35},
           Row{"retry-budget = aws", kTimeout, 35},
           Row{"retry-budget = aws", kThrottled, 100},
           Row{"retry-budget = aws-2025", kError, 100},
           Row{"retry-budget = aws-2025", kTimeout, 50},
           Row{"retry-budget = aws-2025", kThrottled, 100},
       }) {
    auto budget = token_budget(row.settings);
    EXPECT_EQ(retries_in_a_row(budget, row.failure), row.retries) << row.settings;
  }
}

// --- gRPC (A6) ---

TEST(GrpcBudget, RetriesAgainAfter61SuccessesFromZero) {
  for (const int successes : {60, 61}) {
    auto budget = token_budget("retry-budget = grpc");
    for (int i = 0; i < 20; ++i) new_request_fails(budget, kError);
    EXPECT_EQ(budget.tokens(kStart), 0);
    for (int i = 0; i < successes; ++i) succeeds(budget);
    EXPECT_EQ(new_request_fails(budget, kError), successes == 61);
  }
}

TEST(GrpcBudget, IgnoresFailuresThatAreNotRetried) {
  auto budget = token_budget("retry-budget = grpc");
  RetryState state;
  budget.attempt_ended(kStart, kNotFound, state);
  EXPECT_EQ(budget.tokens(kStart), 10);
}

// --- AWS ---

TEST(AwsBudget, EarnsOneByEachFirstSuccess) {
  auto transient = token_budget("retry-budget = aws");
  EXPECT_EQ(retries_in_a_row(transient, kError), 35);
  EXPECT_EQ(transient.tokens(kStart), 10);
  for (int i = 0; i < 3; ++i) succeeds(transient);
  EXPECT_FALSE(new_request_fails(transient, kError));
  succeeds(transient);
  EXPECT_TRUE(new_request_fails(transient, kError)) << "four first successes buy one more";
}

TEST(AwsBudget, GivesBackWhatTheLastRetryCost) {
  auto budget = token_budget("retry-budget = aws");
  RetryState state;
  EXPECT_TRUE(fails(budget, state, kError));
  EXPECT_TRUE(fails(budget, state, kError));
  EXPECT_EQ(budget.tokens(kStart), 472);
  budget.attempt_ended(kStart, kOk, state);
  EXPECT_EQ(budget.tokens(kStart), 486);

  state = {};
  EXPECT_TRUE(fails(budget, state, kError));
  EXPECT_TRUE(fails(budget, state, kThrottled));
  EXPECT_EQ(budget.tokens(kStart), 467);
  budget.attempt_ended(kStart, kOk, state);
  EXPECT_EQ(budget.tokens(kStart), 472);
}

TEST(AwsBudget, HoldsNoMoreThanAtFirst) {
  auto budget = token_budget("retry-budget = aws");
  succeeds(budget);
  EXPECT_EQ(budget.tokens(kStart), 500);
}

// --- Finagle, tower ---

TEST(FinagleBudget, BeginsWith100RetriesAndEarnsOneByFiveRequests) {
  auto budget = token_budget("retry-budget = finagle");
  EXPECT_EQ(retries_in_a_row(budget, kError), 100);
  for (int i = 0; i < 4; ++i) budget.request_begins(kStart);
  EXPECT_EQ(retries_in_a_row(budget, kError), 0);
  budget.request_begins(kStart);
  EXPECT_EQ(retries_in_a_row(budget, kError), 1);
}

TEST(FinagleBudget, ForgetsDepositsAndWithdrawals) {
  auto budget = token_budget("retry-budget = finagle");
  EXPECT_EQ(retries_in_a_row(budget, kError), 100);
  EXPECT_EQ(retries_in_a_row(budget, kError, kStart + 9999ms), 0);
  EXPECT_EQ(budget.tokens(kStart + 10s), 100);
  for (int i = 0; i < 5; ++i) budget.request_begins(kStart + 10s);
  EXPECT_EQ(budget.tokens(kStart + 19999ms), 101);
  EXPECT_EQ(budget.tokens(kStart + 20s), 100);
}

TEST(FinagleBudget, LetsOneRequestTakeAFifth) {
  auto budget = token_budget("retry-budget = finagle");
  RetryState state;
  int retries = 0;
  while (fails(budget, state, kError)) ++retries;
  EXPECT_EQ(retries, 20);
  EXPECT_EQ(budget.tokens(kStart), 80);
}

TEST(TowerBudget, EarnsByAnswersThatNeedNoRetry) {
  auto budget = token_budget("retry-budget = tower");
  EXPECT_EQ(retries_in_a_row(budget, kError), 100);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(new_request_fails(budget, kError));
  for (int i = 0; i < 4; ++i) succeeds(budget);
  EXPECT_FALSE(new_request_fails(budget, kError));
  RetryState state;
  budget.attempt_ended(kStart, kNotFound, state);
  EXPECT_TRUE(new_request_fails(budget, kError));
}

// --- SRE ---

TEST(SreBudget, AllowsRetriesWhileTheyAreLessThanATenth) {
  auto budget = token_budget("retry-budget = sre");
  RetryState state;
  EXPECT_FALSE(fails(budget, state, kError)) << "0 retries are not less than a tenth of 0";
  EXPECT_TRUE(new_request_fails(budget, kError));
  for (int requests = 2; requests <= 10; ++requests) {
    EXPECT_FALSE(new_request_fails(budget, kError)) << requests;
  }
  EXPECT_TRUE(new_request_fails(budget, kError)) << "1 is less than a tenth of 11";
}

// --- Envoy ---

// How many retries it allows at a time while this many attempts are in flight.
int at_a_time(ConcurrentBudget& budget, int in_flight) {
  RetryState state;
  for (int i = 0; i < in_flight; ++i) budget.attempt_sent(kStart, state);
  int retries = 0;
  for (;; ++retries) {
    RetryState other;
    if (!budget.withdraw(kStart, kError, other)) return retries;
  }
}

ConcurrentBudget concurrent_budget(std::string_view settings) {
  return ConcurrentBudget(settings_of<BudgetSettings>(settings), kStart);
}

TEST(EnvoyBudget, AllowsAFifthOfWhatIsInFlight) {
  for (const auto& [in_flight, retries] :
       {std::pair(100, 20), std::pair(24, 4), std::pair(19, 3), std::pair(0, 3)}) {
    auto budget = concurrent_budget("retry-budget = envoy\nbudget-share = 0.2");
    EXPECT_EQ(at_a_time(budget, in_flight), retries) << in_flight;
    auto named = concurrent_budget("retry-budget = concurrent");
    EXPECT_EQ(at_a_time(named, in_flight), retries) << in_flight;
  }
  auto without_share = concurrent_budget("retry-budget = envoy");
  EXPECT_EQ(at_a_time(without_share, 1000), 3);
}

TEST(EnvoyBudget, CountsARetryFromItsDecisionToItsEnd) {
  auto budget = concurrent_budget("retry-budget = envoy\nbudget-min-concurrency = 1");
  RetryState one;
  RetryState other;
  budget.attempt_sent(kStart, one);
  budget.attempt_sent(kStart, other);
  EXPECT_TRUE(fails(budget, one, kError));
  EXPECT_FALSE(fails(budget, other, kError)) << "the first one waits for its retry";
  budget.attempt_sent(kStart, one);
  EXPECT_FALSE(budget.withdraw(kStart, kError, other)) << "it is under way";
  budget.attempt_ended(kStart, kError, one);
  EXPECT_TRUE(budget.withdraw(kStart, kError, other));
}

TEST(EnvoyBudget, ForgetsARetryThatWasNeverSent) {
  auto budget = concurrent_budget("retry-budget = envoy\nbudget-min-concurrency = 1");
  RetryState one;
  RetryState other;
  EXPECT_TRUE(budget.withdraw(kStart, kError, one));
  EXPECT_TRUE(budget.withdraw(kStart, kError, one)) << "the same one, refused by a gate";
  EXPECT_FALSE(budget.withdraw(kStart, kError, other));
  budget.request_ends(kStart, one);
  EXPECT_TRUE(budget.withdraw(kStart, kError, other));
}

TEST(EnvoyBudget, TakesItsShareOfTheRequestsBegunInAnInterval) {
  auto budget =
      concurrent_budget("retry-budget = concurrent\nbudget-interval = 1s\nbudget-share = 0.1");
  for (int i = 0; i < 70; ++i) budget.request_begins(kStart);
  EXPECT_EQ(at_a_time(budget, 1000), 7);
  RetryState state;
  EXPECT_FALSE(budget.withdraw(kStart + 1s, kError, state));
}

// --- Settings ---

TEST(BudgetSettings, RefuseWhatHasNoEffectOrIsNoNumber) {
  test::expect_refusals(
      settings_of<BudgetSettings>,
      {{"budget-tokens = 5", "budget-tokens has no effect without --retry-budget"},
       {"retry-budget = grpc\nretry-budget = none\nbudget-share = 0.5",
        "budget-share has no effect without --retry-budget"},
       {"retry-budget = grpc\nbudget-share = 0.5",
        "budget-share has no effect with --retry-budget=grpc"},
       {"retry-budget = envoy\nbudget-ttl = 1s",
        "budget-ttl has no effect with --retry-budget=envoy"},
       {"retry-budget = envoy\nbudget-interval = 1s",
        "budget-interval has no effect without --budget-share"},
       {"retry-budget = finagle\nbudget-tokens = 5",
        "budget-tokens has no effect with --retry-budget=finagle"},
       {"retry-budget = finagle\nbudget-tokens = 5", "10s (--budget-ttl)"},
       {"retry-budget = 20%\nbudget-tokens = 5",
        "budget-tokens has no effect with --retry-budget=sre"},
       {"retry-budget = 20%\nbudget-tokens = 5", "2m (--budget-ttl)"},
       {"retry-budget = tokens\nbudget-ttl = 5s\nbudget-tokens = 5",
        "budget-tokens has no effect with --budget-ttl"},
       {"retry-budget = grpc\nbudget-minimum-rate = 5",
        "budget-minimum-rate has no effect without --budget-ttl"},
       {"retry-budget = sre\nbudget-threshold = 0.5", "must be 0"},
       {"retry-budget = grcp", "did you mean grpc?"},
       {"retry-budget = finagle\nbudget-ttl = 0s", "budget-ttl"},
       {"retry-budget = grpc\nbudget-tokens = -1", "budget-tokens"},
       {"retry-budget = grpc\nbudget-tokens = nan", "budget-tokens"},
       {"retry-budget = grpc\nbudget-tokens = inf", "budget-tokens"},
       {"retry-budget = grpc\nbudget-tokens = ", "budget-tokens"},
       {"retry-budget = grpc\nbudget-tokens = 5x", "budget-tokens"},
       {"retry-budget = grpc\nbudget-tokens = 1e99", "budget-tokens"}});
}

// The printed form of every budget can be read again.
TEST(BudgetSettings, ReadWhatTheyPrint) {
  BudgetSettings any;
  OptionList names;
  declare_options(names, any);
  const auto choices = names.find("retry-budget")->choices;
  EXPECT_THAT(choices, ::testing::ElementsAre("none", "grpc", "aws", "aws-2025", "finagle", "tower",
                                              "sre", "envoy", "tokens", "concurrent"));
  const auto print = [](BudgetSettings settings) {
    std::string printed;
    OptionList options;
    declare_options(options, settings);
    for (const Option& each : options.all()) printed += each.name + " = " + each.get() + "\n";
    return printed;
  };
  for (const auto name : choices) {
    const auto settings = settings_of<BudgetSettings>("retry-budget = " + std::string(name));
    EXPECT_EQ(print(settings), print(settings_of<BudgetSettings>(print(settings))));
    EXPECT_EQ(make_budget(settings, kStart) == nullptr, name == "none");
  }
}

TEST(RetryBudget, TakesAShareForTheDepositOfSre) {
  for (const auto& [text, deposit] : {std::pair("10%", 0.1), std::pair("0.2", 0.2)}) {
    BudgetSettings settings;
    OptionList options;
    declare_options(options, settings);
    options.set("retry-budget", text);
    EXPECT_EQ(settings.name, "sre");
    EXPECT_EQ(settings.deposit, deposit);
    EXPECT_EQ(settings.ttl, std::chrono::minutes(2));
    EXPECT_THROW(options.set("retry-budget", "20"), std::invalid_argument);
    EXPECT_EQ(settings.deposit, deposit);
  }
}

}  // namespace
}  // namespace retrystorm
