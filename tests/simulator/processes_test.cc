// What clients share with others of their process, in a whole run.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "simulator/scenario_options.h"
#include "simulator/simulation.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

// A run of options as the command line writes them.
SimulationResult run_of(const std::string& settings, std::uint64_t seed = 1) {
  ScenarioOptions options;
  OptionList list;
  declare_options(list, options);
  list.apply(settings);
  return Simulation(make_scenario(options, seed), {}).run();
}

// Nothing answers from the beginning to the end.
const std::string kDead = "outage-at = 0s\noutage-for = 300s\nobserve = 0s\n";

void expect_consistent(const SimulationResult& result, std::size_t clients) {
  const Counts& counts = result.summary.counts;
  // What was sent has ended but for what is under way; what was wanted has succeeded or was given
  // up but for what a client is at.
  EXPECT_GE(counts.attempts(), counts.finished());
  EXPECT_LE(counts.attempts(), counts.finished() + clients);
  EXPECT_GE(counts.requests, counts.ok + counts.gave_up());
  EXPECT_LE(counts.requests, counts.ok + counts.gave_up() + clients);
}

// Site Reliability Engineering, chapter 21: everything fails, at most three attempts each, but
// retries no more than a tenth of the requests: the load grows by a tenth, where it would be three
// times as much.
TEST(Processes, ABudgetOfATenthKeepsTheLoadAtElevenTenths) {
  const std::string three = kDead + "strategy = fixed\nmax-retries = 2\nlambda = 1s\n";
  const SimulationResult without = run_of(three);
  EXPECT_NEAR(without.summary.counts.amplification(), 3, 0.05);
  const SimulationResult with = run_of(three + "retry-budget = sre\n");
  EXPECT_NEAR(with.summary.counts.amplification(), 1.1, 0.01);
  expect_consistent(with, 1000);
}

// AWS: 500 tokens at 14 a retry pay for 35 retries of each process, and then for none.
TEST(Processes, EachHasABudgetOfItsOwn) {
  const std::string settings =
      kDead + "strategy = fixed\nmax-retries = 2\nlambda = 1s\nretry-budget = aws\n";
  EXPECT_EQ(run_of(settings).summary.counts.retries, 10 * 35);
  EXPECT_EQ(run_of(settings + "clients-per-process = 1000\n").summary.counts.retries, 35);
  EXPECT_EQ(run_of(settings + "clients-per-process = 300\n").summary.counts.retries, 4 * 35);
}

// Site Reliability Engineering, equation 21-1: clients that want 1,000 a second of a service that
// takes 200 come to send K times what is accepted.
TEST(Processes, AdaptiveThrottlingSendsKTimesWhatIsAccepted) {
  const std::string wanted =
      "arrivals = open\nrate = 1000\nrate-limit = 200\nrate-burst = 1\nstrategy = none\n"
      "outage-at = 0s\noutage-for = 0s\nobserve = 1000s\nclients-per-process = 1000000\n"
      "throttle = sre\n";
  for (const int k : {2, 3}) {
    const SimulationResult result = run_of(wanted + "throttle-ratio = " + std::to_string(k) + "\n");
    const Counts& counts = result.summary.counts;
    // The first two minutes fill the window.
    EXPECT_NEAR(static_cast<double>(counts.attempts()) / static_cast<double>(counts.ok), k,
                0.06 * k);
    EXPECT_EQ(counts.requests, counts.attempts() + counts.not_sent);
    EXPECT_EQ(counts.not_sent, counts.unsent);
  }
}

TEST(Processes, WhatABreakerRefusesIsNoAttempt) {
  const SimulationResult result =
      run_of(kDead + "strategy = none\nlambda = 1s\nbreaker = resilience4j\n");
  const Counts& counts = result.summary.counts;
  // Its window of a hundred calls fails once, and then ten trials a minute for each process.
  EXPECT_LE(counts.attempts(), 10 * (200 + 5 * 10));
  EXPECT_GT(counts.not_sent, 100'000);
  EXPECT_EQ(counts.gave_up(), counts.not_sent + counts.finished());
  expect_consistent(result, 1000);
}

// resilience4j's Retry around its CircuitBreaker: what is refused is retried, and counted as such.
TEST(Processes, WhatIsRefusedMayBackOff) {
  const SimulationResult result =
      run_of(kDead +
             "strategy = fixed\nfixed-delay = 500ms\nmax-retries = 2\nlambda = 1s\n"
             "breaker = resilience4j\nwhen-refused = back-off\n");
  const Counts& counts = result.summary.counts;
  EXPECT_GT(counts.not_sent, 2 * counts.gave_up());
  EXPECT_LE(counts.not_sent, 3 * counts.requests);
  expect_consistent(result, 1000);
}

// Who waits for a token is neither sent nor refused.
TEST(Processes, AClientRateLetsAttemptsWait) {
  const SimulationResult result = run_of(
      "clients = 100\nlambda = 1s\nrate-limit = 10\noutage-for = 0s\nobserve = 300s\n"
      "strategy = fixed\nclient-rate = aws-adaptive\n");
  const Counts& counts = result.summary.counts;
  EXPECT_EQ(counts.not_sent, 0);
  // It finds about what the service takes, where the storm would be some 90 a second.
  EXPECT_LT(counts.amplification(), 2);
  EXPECT_NEAR(static_cast<double>(counts.ok) / 330, 10, 1.5);
  expect_consistent(result, 100);
}

// Nothing answers: an attempt of 2 s, half a second, and what is left of the deadline.
TEST(Deadline, EndsRequestsAndCutsTheirLastAttemptShort) {
  const SimulationResult result =
      run_of(kDead + "strategy = fixed\nfixed-delay = 500ms\ndeadline = 3s\nlambda = 1s\n");
  const Counts& counts = result.summary.counts;
  EXPECT_EQ(counts.gave_up_by[0], 0);
  EXPECT_GT(counts.gave_up_by[static_cast<std::size_t>(GiveUp::kDeadline)], 50'000);
  EXPECT_NEAR(counts.amplification(), 2, 0.02);
  EXPECT_EQ(result.summary.latencies.requests().max(), 3s);
  EXPECT_NEAR(to_seconds(*result.summary.latencies.requests().quantile(0.01)), 3, 0.012);
  EXPECT_EQ(counts.success_share(), 0);
  expect_consistent(result, 1000);
}

// Who waits for a token waits no longer than its deadline, and is then given up unsent.
TEST(Deadline, EndsTheWaitForAToken) {
  const SimulationResult result = run_of(
      "clients = 100\nlambda = 1s\nrate-limit = 10\noutage-for = 0s\nobserve = 300s\n"
      "strategy = fixed\nclient-rate = aws-adaptive\ndeadline = 1s\n");
  const Counts& counts = result.summary.counts;
  EXPECT_GT(counts.unsent, 1000);
  EXPECT_LE(*result.summary.latencies.requests().max(), 1s + 100us);  // nobody asks again sooner
  EXPECT_EQ(counts.not_sent, 0);
  expect_consistent(result, 100);
}

// At 99 OK/s without a failure each request is one attempt: both take the base delay.
TEST(RequestTime, IsTheLatencyWhereNothingFails) {
  const Summary summary = run_of("outage-for = 0s\n").summary;
  EXPECT_EQ(summary.latencies.requests().max(), summary.latencies.attempts().max());
  EXPECT_EQ(summary.counts.success_share(), 1);
  EXPECT_EQ(summary.counts.failing, 0);
}

TEST(Processes, SameSeedSameRun) {
  const std::string settings = "strategy = exponential\nretry-budget = finagle\nthrottle = sre\n";
  const Counts a = run_of(settings, 7).summary.counts, b = run_of(settings, 7).summary.counts;
  EXPECT_EQ(a.attempts(), b.attempts());
  EXPECT_EQ(a.not_sent, b.not_sent);
  EXPECT_NE(a.attempts(), run_of(settings, 8).summary.counts.attempts());
}

}  // namespace
}  // namespace retrystorm
