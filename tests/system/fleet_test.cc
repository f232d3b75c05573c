// Many threads, few processes: what the clients of a process share holds however they interleave.
// Also for the thread sanitizer, which sees here whether each part is asked under its lock.
#include "client/fleet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "client/url.h"
#include "model/run/open_arrivals.h"
#include "tests/support/certificate.h"
#include "tests/support/child_process.h"
#include "tests/support/sockets.h"

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;

// Everything is refused there.
const std::string kNobody = "http://127.0.0.1:1/api";

// A fleet that runs for as long as it exists.
class RunningFleet {
 public:
  // `settings`: lines of `name = value`, on top of a hundred clients in a hurry. `trace`: so many
  // requests are followed.
  RunningFleet(const std::string& url, const std::string& settings, std::size_t trace = 0)
      : workload_(workload(settings)),
        fleet_(workload_, 1, make_request({.url = url, .insecure = is_https(url)}),
               {.max_threads = kThreads}) {
    // As the programs do: a server may close a connection that is written to.
    std::signal(SIGPIPE, SIG_IGN);
    if (trace > 0) {
      fleet_.follow(Clock::now(), trace);
      fleet_.trace()->open();
    }
    fleet_.start();
  }

  const WorkloadOptions& workload() const { return workload_; }
  static constexpr std::size_t kThreads = 100;  // of open arrivals

  Counts counts() const { return fleet_.totals().counts; }
  Punctuality punctuality() const { return fleet_.totals().punctuality; }
  ClientStates clients() const { return fleet_.totals().clients; }
  SharedTrace* trace() { return fleet_.trace(); }

  // Runs until that many attempts have ended or were refused.
  void run_until(std::uint64_t ends) {
    EXPECT_TRUE(eventually([&] { return counts().finished() + counts().not_sent >= ends; }))
        << "it has come to " << counts().finished() + counts().not_sent;
  }

  // Stops it: then nothing is under way, and all that was begun has an end. What a client was at
  // when it was stopped is counted as begun, and has none.
  Counts stop() {
    fleet_.stop();
    const FleetTotals totals = fleet_.totals();
    const Counts& counts = totals.counts;
    const std::uint64_t interrupted = fleet_.is_open() ? kThreads : workload_.clients;
    EXPECT_EQ(totals.clients.in_flight, 0);
    EXPECT_EQ(totals.clients.waiting_to_retry, 0);
    EXPECT_GE(counts.attempts(), counts.finished());
    EXPECT_LE(counts.attempts(), counts.finished() + interrupted);
    EXPECT_GE(counts.requests, counts.ok + counts.gave_up());
    EXPECT_LE(counts.requests, counts.ok + counts.gave_up() + interrupted);
    // Each end is followed by its request's end or by another attempt, sent or not, but for what
    // was interrupted in between.
    const std::uint64_t ends = counts.finished() + counts.not_sent;
    const std::uint64_t asked = counts.attempts() + counts.not_sent;
    EXPECT_LE(ends, asked);
    EXPECT_LE(asked, ends + interrupted);
    return counts;
  }

 private:
  static WorkloadOptions workload(const std::string& settings) {
    WorkloadOptions workload;
    OptionList list;
    declare_options(list, workload);
    list.apply(
        "clients = 100\nclients-per-process = 50\nlambda = 2ms\nstrategy = fixed\n"
        "fixed-delay = 1ms\nmax-retries = 2\n" +
        settings);
    return workload;
  }

  const WorkloadOptions workload_;
  Fleet fleet_;
};

class FleetParts : public testing::TestWithParam<std::pair<const char*, const char*>> {};

// A service that sheds much of what comes: successes and failures alternate in every thread.
TEST_P(FleetParts, AccountForEverything) {
  const ServerUnderTest server(
      {"--base-delay=2ms", "--shed-above=" + std::to_string(20 / kSlowness)});
  RunningFleet fleet(server.url(), GetParam().second);
  fleet.run_until(3000);
  const Counts counts = fleet.stop();
  EXPECT_GT(counts.ok, 0);
  EXPECT_GT(counts.errors, 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, FleetParts,
    testing::Values(
        std::pair("Nothing", ""), std::pair("TokenBudget", "retry-budget = aws\n"),
        std::pair("BudgetInAWindow", "retry-budget = finagle\n"),
        std::pair("ConcurrentBudget", "retry-budget = envoy\n"),
        std::pair("Breaker",
                  "breaker = polly\nbreaker-time = 1s\nbreaker-open-for = 20ms\n"
                  "breaker-min-calls = 20\nbreaker-failure-share = 0.3\n"),
        std::pair("Throttle", "throttle = sre\n"),
        std::pair("AimdLimit", "concurrency-limit = aimd:20\nlimit-min = 2\n"),
        std::pair("ClientRate", "client-rate = aws-adaptive\nrate-min = 1000\n"),
        std::pair("ClientRateAndDeadline",
                  "client-rate = aws-adaptive\nrate-min = 1000\ndeadline = 50ms\n"),
        std::pair("AllOfThem",
                  "retry-budget = grpc\nbreaker = polly\nbreaker-open-for = 20ms\n"
                  "throttle = grpc\nconcurrency-limit = aimd:20\nclient-rate = aws-adaptive\n"
                  "rate-min = 1000\nwhen-refused = back-off\n")),
    [](const auto& each) { return std::string(each.param.first); });

// No thread may see a token that another has taken: with everything failing, a process pays for
// exactly as many retries as its budget has (A6: 4 of 10 tokens; AWS: 500 / 14), and for none more.
TEST(FleetBudget, PaysForEachRetryOnce) {
  for (const auto& [budget, retries] : {std::pair("grpc", 4), std::pair("aws", 35)}) {
    RunningFleet fleet(kNobody, "max-retries = none\nretry-budget = " + std::string(budget) + "\n");
    fleet.run_until(2000);
    EXPECT_EQ(fleet.stop().retries, 2 * retries) << budget;
  }
}

// Half-open, three trials and no fourth, however many threads ask at once.
TEST(FleetBreaker, LetsNoMoreThroughThanItsTrials) {
  const Duration open_for = 50ms;
  const TimePoint begin = Clock::now();
  RunningFleet fleet(kNobody,
                     "breaker = gobreaker\nbreaker-trials = 3\nbreaker-open-for = 50ms\n"
                     "max-retries = 0\n");
  fleet.run_until(20'000);
  const Counts counts = fleet.stop();
  const auto half_opened = static_cast<std::uint64_t>((Clock::now() - begin) / open_for);
  // What was sent before it opened: at most an attempt of each client.
  EXPECT_LE(counts.attempts(), 100 + 2 * 3 * half_opened);
  EXPECT_GT(counts.attempts(), 2 * 6);
  EXPECT_GT(counts.not_sent, 10'000);
}

// Two processes with ten at a time each, of a hundred that want to.
TEST(FleetLimit, IsNeverExceeded) {
  const ServerUnderTest server({"--base-delay=5ms"});
  for (const char* limit : {"concurrency-limit = fixed:10\n",
                            "concurrency-limit = aimd:10\nlimit-min = 1\nlimit-max = 10\n"}) {
    RunningFleet fleet(server.url(), limit);
    std::size_t most = 0;
    EXPECT_TRUE(eventually([&] {
      for (int i = 0; i < 1000; ++i) most = std::max(most, fleet.clients().in_flight);
      return fleet.counts().ok > 1000;
    })) << limit;
    EXPECT_LE(most, 2 * 10) << limit;
    EXPECT_GE(most, 10) << limit;
    EXPECT_GT(fleet.stop().not_sent, 0) << limit;
  }
}

// Nearly everything is throttled, so that the rate is the least one: tokens come one after the
// other, each serves one of the waiters, and none is lost or taken twice. They wait in line, and
// all of them end when they are told to.
TEST(FleetRate, SendsOneAttemptForEachToken) {
  const ServerUnderTest server({"--rate-limit=0.001", "--rate-burst=1"});
  RunningFleet fleet(server.url(),
                     "client-rate = aws-adaptive\nrate-min = 40\nclients-per-process = 100\n");
  // The first attempts were sent before anything was throttled.
  fleet.run_until(120);
  const TimePoint begin = Clock::now();
  const std::uint64_t before = fleet.counts().attempts();
  fleet.run_until(200);
  const std::uint64_t sent = fleet.counts().attempts() - before;
  // What was allowed before may be counted after, more of it the busier the machine is; tokens
  // taken twice would be many more.
  EXPECT_LE(static_cast<double>(sent), 1.25 * 40 * to_seconds(Clock::now() - begin) + 2);
  EXPECT_EQ(fleet.stop().not_sent, 0);
}

// A trace of everything adds up to the counts, also where gates refuse and clients are interrupted.
TEST(FleetTrace, FollowsTheRequestsOfManyThreads) {
  RunningFleet fleet(kNobody, "breaker = resilience4j\nbreaker-open-for = 20ms\n", 1'000'000);
  std::vector<TracedRequest> requests;
  fleet.run_until(1000);
  for (TracedRequest& each : fleet.trace()->take_finished()) requests.push_back(std::move(each));
  EXPECT_FALSE(requests.empty());
  fleet.run_until(2000);
  const Counts counts = fleet.stop();
  for (TracedRequest& each : fleet.trace()->take_rest()) requests.push_back(std::move(each));
  std::uint64_t errors = 0, not_sent = 0, gave_up = 0;
  for (const TracedRequest& request : requests) {
    if (request.gave_up) ++gave_up;
    for (const TracedAttempt& each : request.attempts) {
      if (each.fate == AttemptFate::kError) ++errors;
      if (each.fate == AttemptFate::kNotSent) ++not_sent;
    }
  }
  EXPECT_EQ(requests.size(), counts.requests);
  EXPECT_EQ(errors, counts.errors);
  EXPECT_EQ(not_sent, counts.not_sent);
  EXPECT_EQ(gave_up, counts.gave_up());
  EXPECT_GT(errors, 0u);
  EXPECT_GT(not_sent, 0u);
}

// Threads begin, wait and end while requests come, fail and are retried.
TEST(FleetArrivals, AccountForEverything) {
  const ServerUnderTest server({"--base-delay=2ms", "--shed-above=2"});
  for (const char* parts : {"",
                            "retry-budget = aws\nbreaker = polly\nbreaker-open-for = 20ms\n"
                            "concurrency-limit = aimd:20\n"}) {
    RunningFleet fleet(server.url(), "arrivals = open\nrate = 2000\nclients-per-process = 7\n" +
                                         std::string(parts));
    fleet.run_until(3000);
    const Counts counts = fleet.stop();
    EXPECT_GT(counts.ok, 0);
    EXPECT_GT(counts.errors, 0);
  }
}

// The k-th request does not begin before the k-th moment of the seed's arrivals, whatever became of
// those before it, and no later than is told.
TEST(FleetArrivals, ComeAtTheirTimes) {
  const ServerUnderTest server({"--base-delay=5ms"});
  constexpr std::size_t kRate = 500 / kSlowness;
  RunningFleet fleet(server.url(),
                     "arrivals = open\nmax-retries = 0\nrate = " + std::to_string(kRate) + "\n",
                     1'000'000);
  fleet.run_until(kRate);
  fleet.stop();
  std::vector<Duration> begun;
  for (auto take : {&SharedTrace::take_finished, &SharedTrace::take_rest}) {
    for (const TracedRequest& each : (fleet.trace()->*take)()) begun.push_back(each.t);
  }
  ASSERT_GE(begun.size(), kRate);
  std::sort(begun.begin(), begun.end());
  const Punctuality punctuality = fleet.punctuality();
  EXPECT_EQ(punctuality.dropped_arrivals, 0);
  OpenArrivals arrivals(1, kRate);
  Duration due{0};
  for (const Duration each : begun) {
    due += arrivals.next_gap();
    EXPECT_GE(each, due);
    // Its thread may lose a moment between the two looks at the clock.
    EXPECT_LE(each, due + punctuality.latest_start + 1s);
  }
}

// Nobody answers, so that every request keeps its thread.
TEST(FleetArrivals, AreCountedWhenThereIsNoThreadForThem) {
  const Listener silent;
  RunningFleet fleet(silent.url(), "arrivals = open\nrate = 5000\ntimeout = 1h\n");
  EXPECT_TRUE(eventually([&] { return fleet.punctuality().dropped_arrivals > 1000; }));
  const Counts counts = fleet.counts();
  EXPECT_EQ(counts.requests, RunningFleet::kThreads);
  EXPECT_EQ(fleet.clients().thinking, 0);
  EXPECT_TRUE(eventually([&] { return fleet.clients().in_flight == RunningFleet::kThreads; }));
  EXPECT_EQ(fleet.stop().finished(), 0);
}

// The process of a request is that of its place: here all have one budget.
TEST(FleetArrivals, ShareWhatTheProcessOfTheirPlaceHas) {
  RunningFleet fleet(kNobody,
                     "arrivals = open\nrate = 2000\nclients-per-process = 100\n"
                     "max-retries = none\nretry-budget = aws\n");
  fleet.run_until(1000);
  EXPECT_EQ(fleet.stop().retries, 35);
}

TEST(FleetTls, ShakesHandsInManyThreads) {
  const TlsServer server(Certificate("DNS:localhost"));
  RunningFleet fleet(server.url("localhost"), "lambda = 10ms\n");
  fleet.run_until(300);
  const Counts counts = fleet.stop();
  EXPECT_GT(counts.ok, 0);
}

// Interrupted in the middle of the handshake.
TEST(FleetTls, EndsWhenNobodyAnswersTheHandshake) {
  const Listener silent(4096);
  RunningFleet fleet("https://127.0.0.1:" + std::to_string(silent.port()) + "/", "timeout = 1h\n");
  EXPECT_TRUE(eventually([&] { return fleet.clients().in_flight > 90; }));
  EXPECT_EQ(fleet.stop().finished(), 0);
}

}  // namespace
}  // namespace retrystorm::test
