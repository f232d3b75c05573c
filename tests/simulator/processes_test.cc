// The parts that the clients of a process share, in whole runs.

#include "simulator/scenario_options.h"
#include "simulator/simulation.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// A run with these options, as on the command line.
SimulationResult processes_run(const std::string& settings, std::uint64_t seed = 1) {
  ScenarioOptions options = options_from(settings);
  return Simulation(make_scenario(options, seed), {}).run();
}

// Nothing answers during the whole run.
const std::string kDead = "outage-at = 0s\noutage-for = 300s\nobserve = 0s\n";

void expect_consistent(const SimulationResult& result, std::size_t clients) {
  const Counts& counts = result.summary.counts;
  // Every attempt that was sent has ended, except for those under way. Every request has succeeded or was
  // given up, except for those under way.
  EXPECT_GE(counts.attempts, counts.finished());
  EXPECT_LE(counts.attempts, counts.finished() + clients);
  EXPECT_GE(counts.requests, counts.ok + counts.gave_up());
  EXPECT_LE(counts.requests, counts.ok + counts.gave_up() + clients);
}

// A million of them, of 50 clients, took 1.77 GB.
TEST(Processes, CountInTheMemoryThatARunNeeds) {
  const auto needed = [](const std::string& settings) {
    ScenarioOptions options = options_from("clients = 50\nprocesses = 1000000\n" + settings);
    return memory_needed(make_scenario(options, 1));
  };
  EXPECT_LT(needed("strategy = fixed\n"), 1e8);
  EXPECT_GT(needed("strategy = fixed\nretry-budget = aws\nbreaker-calls = 100\n"), 1.7e9);
}

// AWS: 500 tokens at 14 a retry pay for 35 retries of each process, and then for none.
TEST(Processes, HaveSeparateBudgets) {
  const std::string settings =
      kDead + "strategy = fixed\nmax-retries = 2\nlambda = 1s\nretry-budget = aws\n";
  EXPECT_EQ(processes_run(settings).summary.counts.retries, 10 * 35);
  EXPECT_EQ(processes_run(settings + "clients-per-process = 1000\n").summary.counts.retries, 35);
  EXPECT_EQ(processes_run(settings + "clients-per-process = 300\n").summary.counts.retries, 4 * 35);
}

// Requests arrive from outside and none is answered. More and more are waiting, but the number of
// processes stays the same.
TEST(Processes, DoNotGrowWithTheStorm) {
  const std::string settings =
      kDead + "arrivals = open\nrate = 100\nstrategy = fixed\nretry-budget = aws\n";
  const Summary one = processes_run(settings).summary;
  EXPECT_EQ(one.processes, 1u);
  EXPECT_EQ(one.counts.retries, 35);
  const Summary three = processes_run(settings + "processes = 3\n").summary;
  EXPECT_EQ(three.processes, 3u);
  EXPECT_EQ(three.counts.retries, 3 * 35);
  EXPECT_NEAR(three.process_rate(), 100. / 3, 1);
  EXPECT_EQ(processes_run(settings + "scale = 3\n").summary.processes, 3u);
  EXPECT_EQ(processes_run(settings + "retry-budget = none\n").summary.processes, 0u);
}

// Three clients in two processes: the second client is alone in its process.
TEST(Processes, AreDealtInTurnToTheirClients) {
  ScenarioOptions options =
      options_from(kDead +
                   "clients = 3\nlambda = 1s\nstrategy = fixed\nfixed-delay = 1h\nprocesses = 2\n"
                   "retry-budget = concurrent\nbudget-min-concurrency = 1\n");
  options.trace = 100'000;
  struct Observer final : RunObserver {
    void on_request(const TracedRequest& request) override {
      if (!request.time && request.attempts.front().latency) retrying.insert(request.client);
    }
    std::set<std::uint64_t> retrying;
  } observer;
  Simulation(make_scenario(options, 1), {.run = {&observer}}).run();
  EXPECT_EQ(observer.retrying.size(), 2u);
  EXPECT_TRUE(observer.retrying.contains(1));
}

TEST(Processes, AreOneForEachHundredClientsUnlessGiven) {
  const auto count = [](const std::string& settings) {
    ScenarioOptions options = options_from(settings);
    return process_count(options.workload);
  };
  EXPECT_EQ(count(""), 10u);
  EXPECT_EQ(count("clients = 101\n"), 2u);
  EXPECT_EQ(count("clients-per-process = 300\n"), 4u);
  EXPECT_EQ(count("arrivals = job\nclients = 250\n"), 3u);
  EXPECT_EQ(count("arrivals = open\n"), 1u);
  EXPECT_EQ(count("arrivals = open\nprocesses = 5\n"), 5u);
}

TEST(Processes, AttemptsRefusedByABreakerAreNotCounted) {
  const SimulationResult result =
      processes_run(kDead + "strategy = none\nlambda = 1s\nbreaker = resilience4j\n");
  const Counts& counts = result.summary.counts;
  // Its window of a hundred calls fails once. Then each process has ten trials a minute.
  EXPECT_LE(counts.attempts, 10 * (200 + 5 * 10));
  EXPECT_GT(counts.not_sent, 100'000);
  EXPECT_EQ(counts.gave_up(), counts.not_sent + counts.finished());
  expect_consistent(result, 1000);
}

// resilience4j's Retry around its CircuitBreaker: a refused attempt is retried, and counts as a retry.
TEST(Processes, RefusedRequestsMayBackOff) {
  const SimulationResult result =
      processes_run(kDead +
                    "strategy = fixed\nfixed-delay = 500ms\nmax-retries = 2\nlambda = 1s\n"
                    "breaker = resilience4j\nwhen-refused = back-off\n");
  const Counts& counts = result.summary.counts;
  EXPECT_GT(counts.not_sent, 2 * counts.gave_up());
  EXPECT_LE(counts.not_sent, 3 * counts.requests);
  expect_consistent(result, 1000);
}

// AWS's clients of 2026 and long polls: the quota is empty and all fails at once, but a client calls only once a
// second, and not after each think time of a tenth.
TEST(Processes, DeniedRetriesMayBackOff) {
  const std::string settings =
      "clients = 50\nlambda = 100ms\nservice = workers\nworkers = 100\nservice-time = 1ms\n"
      "outage = errors:1\noutage-at = 0s\noutage-for = 300s\nobserve = 0s\nstrategy = fixed\n"
      "backoff-base = 900ms\nretry-budget = tokens\nbudget-tokens = 0\nwhen-refused = ";
  const Counts at_once = processes_run(settings + "give-up\n").summary.counts;
  const Counts later = processes_run(settings + "back-off\n").summary.counts;
  EXPECT_NEAR(static_cast<double>(at_once.attempts), 300 * 50 / 0.1, 0.02 * 300 * 50 / 0.1);
  EXPECT_NEAR(static_cast<double>(later.attempts), 300 * 50 / 1.0, 0.02 * 300 * 50);
  EXPECT_EQ(later.retries, 0);
}

// Half of all attempts fail for 100 s: each request has 1/2 + 1/4 + 1/8 retries, for 30 s, and then none.
TEST(Processes, ARetrySwitchTurnsRetriesOff) {
  const std::string settings =
      "arrivals = open\nrate = 100\nservice = workers\nworkers = 100\nservice-time = 1ms\n"
      "strategy = retryguard\noutage = errors:0.5:503\noutage-at = 10s\noutage-for = 100s\nobserve = ";
  const Counts soon = processes_run(settings + "20s\n").summary.counts;
  EXPECT_NEAR(static_cast<double>(soon.retries), 30 * 100 * 0.875, 0.1 * 30 * 100 * 0.875);
  EXPECT_NEAR(static_cast<double>(soon.gave_up_by[static_cast<std::size_t>(GiveUp::kGate)]),
              70 * 100 * 0.5, 0.1 * 70 * 100 * 0.5);
  // On again 30 s after the outage: the next failures are retried, for 30 s.
  const Counts again =
      processes_run(settings + "80s\nat = 160s set error-share=0.5\n").summary.counts;
  EXPECT_NEAR(static_cast<double>(again.retries), 2 * 30 * 100 * 0.875, 0.1 * 2 * 30 * 100 * 0.875);
}

// A request that waits for a token is neither sent nor refused.
TEST(Processes, AClientRateLetsAttemptsWait) {
  const SimulationResult result = processes_run(
      "clients = 100\nlambda = 1s\nrate-limit = 10\noutage-for = 0s\nobserve = 300s\n"
      "strategy = fixed\nclient-rate = aws-adaptive\n");
  const Counts& counts = result.summary.counts;
  EXPECT_EQ(counts.not_sent, 0);
  // It finds about the rate that the service accepts. Without it, the storm would be some 90 a second.
  EXPECT_LT(counts.amplification(), 2);
  EXPECT_NEAR(static_cast<double>(counts.ok) / 330, 10, 1.5);
  expect_consistent(result, 100);
}

// 600 requests a minute are admitted, and ten clients without a think time ask as fast as they can. A process
// sends the first at once and then ten a second, whatever the others do: none is turned away. Two processes share
// the rate. An answer takes about 100 ms, so that the last attempts of the 90 s may be under way.
TEST(Processes, AGivenClientRateIsKept) {
  // With a deadline, and without one.
  for (const char* rate : {"strategy = begin\nclient-rate = 600/min\nprocesses = 1\n",
                           "strategy = begin\nclient-rate = 5/s\nprocesses = 2\n",
                           "strategy = fixed\nclient-rate = 10/s\nprocesses = 1\n"}) {
    const SimulationResult result = processes_run(
        std::string(
            "clients = 10\nlambda = 0s\nrate-limit = 10\noutage-for = 0s\nobserve = 60s\n") +
        rate);
    const Counts& counts = result.summary.counts;
    EXPECT_EQ(counts.errors, 0);
    EXPECT_NEAR(static_cast<double>(counts.attempts), 10 * 90, 2);
    EXPECT_NEAR(static_cast<double>(counts.ok), 10 * 90, 3);
    EXPECT_NEAR(to_seconds(result.summary.longest_without_ok), 1, 0.01) << "in turn";
    expect_consistent(result, 10);
  }
}

// Nothing answers: an attempt of 2 s, half a second of wait, and the rest of the deadline.
TEST(Deadline, EndsRequestsAndCutsTheirLastAttemptShort) {
  const SimulationResult result =
      processes_run(kDead + "strategy = fixed\nfixed-delay = 500ms\ndeadline = 3s\nlambda = 1s\n");
  const Counts& counts = result.summary.counts;
  EXPECT_EQ(counts.gave_up_by[0], 0);
  EXPECT_GT(counts.gave_up_by[static_cast<std::size_t>(GiveUp::kDeadline)], 50'000);
  EXPECT_NEAR(counts.amplification(), 2, 0.02);
  EXPECT_EQ(result.summary.latencies.requests().ended.max(), 3s);
  EXPECT_NEAR(to_seconds(*result.summary.latencies.requests().ended.quantile(0.01)), 3, 0.012);
  EXPECT_EQ(counts.success_share(), 0);
  expect_consistent(result, 1000);
}

// A request waits for a token no longer than its deadline. Then it is given up without being sent.
TEST(Deadline, EndsTheWaitForAToken) {
  const SimulationResult result = processes_run(
      "clients = 100\nlambda = 1s\nrate-limit = 10\noutage-for = 0s\nobserve = 300s\n"
      "strategy = fixed\nclient-rate = aws-adaptive\ndeadline = 1s\n");
  const Counts& counts = result.summary.counts;
  EXPECT_GT(counts.unsent(), 1000);
  EXPECT_LE(*result.summary.latencies.requests().ended.max(),
            1s + 100us);  // no client asks again sooner
  EXPECT_EQ(counts.not_sent, 0);
  expect_consistent(result, 100);
}

// At 99 OK/s without a failure each request is one attempt: both take the base delay.
TEST(RequestTime, IsTheLatencyIfNothingFails) {
  const Summary summary = processes_run("outage-for = 0s\n").summary;
  EXPECT_EQ(summary.latencies.requests().ended.max(), summary.latencies.attempts().max());
  EXPECT_EQ(summary.counts.success_share(), 1);
  EXPECT_EQ(summary.counts.failing, 0);
}

}  // namespace
}  // namespace retrystorm
