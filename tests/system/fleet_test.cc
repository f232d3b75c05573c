// Many threads, few processes: the parts that the clients of a process share work however their
// threads interleave. Here the thread sanitizer also checks that each part is used under its lock.
#include "client/fleet.h"

#include "common/http/http_request.h"
#include "model/run/workload.h"
#include "tests/support/certificate.h"
#include "tests/support/child_process.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

// Connections to this address are refused.
const std::string kNobody = "http://127.0.0.1:1/api";

// A fleet that runs as long as this object exists.
class RunningFleet {
 public:
  // `settings`: lines of `name = value`, in addition to a hundred busy clients. `trace`: the number
  // of requests to trace. `threads`: for open arrivals.
  RunningFleet(const std::string& url, const std::string& settings, std::size_t trace = 0,
               std::size_t threads = kThreads)
      : workload_(workload(settings)),
        threads_(threads),
        fleet_(workload_, 1, make_request({.url = url, .insecure = is_https(url)}),
               {.max_threads = threads}) {
    // As in the programs: a server may close a connection during a write.
    std::signal(SIGPIPE, SIG_IGN);
    if (trace > 0) {
      fleet_.follow(Clock::now(), trace);
      fleet_.trace()->open();
    }
    fleet_.start();
  }

  const WorkloadOptions& workload() const { return workload_; }
  static constexpr std::size_t kThreads = 100;  // for open arrivals

  Counts counts() const { return fleet_.totals().counts; }
  ArrivalLag arrival_lag() const { return fleet_.totals().arrival_lag; }
  ClientStates clients() const { return fleet_.totals().clients; }
  RequestTimes request_times() const { return fleet_.history().latencies.requests(); }
  SharedTrace* trace() { return fleet_.trace(); }

  // Runs until this many attempts have ended or were not sent.
  void run_until(std::uint64_t ends) {
    EXPECT_TRUE(eventually([&] { return counts().finished() + counts().not_sent >= ends; }))
        << "it has come to " << counts().finished() + counts().not_sent;
  }

  // Stops the fleet and checks the counts: nothing is in flight any more, and everything that has
  // begun has ended. Only the interrupted request of each client has begun without an end.
  Counts stop() {
    fleet_.stop();
    const FleetTotals totals = fleet_.totals();
    const Counts& counts = totals.counts;
    const std::uint64_t interrupted = fleet_.is_open() ? threads_ : workload_.clients;
    EXPECT_EQ(totals.clients.in_flight, 0);
    EXPECT_EQ(totals.clients.waiting_to_retry, 0);
    EXPECT_GE(counts.attempts, counts.finished());
    EXPECT_LE(counts.attempts, counts.finished() + interrupted);
    EXPECT_GE(counts.requests, counts.ok + counts.gave_up());
    EXPECT_LE(counts.requests, counts.ok + counts.gave_up() + interrupted);
    // Every attempt that was asked for, sent or not, has ended, except those that were interrupted.
    const std::uint64_t ends = counts.finished() + counts.not_sent;
    const std::uint64_t asked = counts.attempts + counts.not_sent;
    EXPECT_LE(ends, asked);
    EXPECT_LE(asked, ends + interrupted);
    return counts;
  }

 private:
  static WorkloadOptions workload(const std::string& settings) {
    WorkloadOptions workload = options_from<WorkloadOptions>(
        "clients = 100\nclients-per-process = 50\nlambda = 2ms\nstrategy = fixed\n"
        "fixed-delay = 1ms\nmax-retries = 2\n" +
        settings);
    return workload;
  }

  const WorkloadOptions workload_;
  const std::size_t threads_;
  Fleet fleet_;
};

class FleetParts : public testing::TestWithParam<std::pair<const char*, const char*>> {};

// Successes and failures alternate in every thread, however slow the machine makes the clients.
TEST_P(FleetParts, AccountForEverything) {
  const ServerUnderTest server({"--base-delay=2ms", "--error-share=0.4"});
  RunningFleet fleet(server.url(), GetParam().second);
  fleet.run_until(3000);
  EXPECT_TRUE(eventually([&] { return fleet.counts().ok > 0 && fleet.counts().errors > 0; }));
  fleet.stop();
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
                  kSlowness > 1 ? "client-rate = aws-adaptive\nrate-min = 1000\ndeadline = 250ms\n"
                                : "client-rate = aws-adaptive\nrate-min = 1000\ndeadline = 50ms\n"),
        std::pair("AllOfThem",
                  "retry-budget = grpc\nbreaker = polly\nbreaker-open-for = 20ms\n"
                  "throttle = grpc\nconcurrency-limit = aimd:20\nclient-rate = aws-adaptive\n"
                  "rate-min = 1000\nwhen-refused = back-off\n")),
    [](const auto& each) { return std::string(each.param.first); });

// No two threads may spend the same token. If everything fails, a process makes exactly as many retries as its retry
// budget allows (A6: 4 of 10 tokens; AWS: 500 / 14), and no more. For open arrivals, the number of processes does not grow
// with the requests that are waiting.
TEST(FleetBudget, PaysForEachRetryOnce) {
  const std::string open = "arrivals = open\nrate = 2000\nretry-budget = aws\nprocesses = ";
  for (const auto& [settings, retries] :
       {std::pair(std::string("retry-budget = grpc\n"), 2 * 4),
        std::pair(std::string("retry-budget = aws\n"), 2 * 35), std::pair(open + "1\n", 35),
        std::pair(open + "3\n", 3 * 35)}) {
    RunningFleet fleet(kNobody, "max-retries = none\n" + settings);
    fleet.run_until(2000);
    EXPECT_EQ(fleet.stop().retries, retries) << settings;
  }
}

// A half-open breaker allows three trials and no fourth, however many threads ask at once.
TEST(FleetBreaker, LetsNoMoreThroughThanItsTrials) {
  const Duration open_for = 50ms;
  const TimePoint begin = Clock::now();
  RunningFleet fleet(kNobody,
                     "breaker = gobreaker\nbreaker-trials = 3\nbreaker-open-for = 50ms\n"
                     "max-retries = 0\n");
  fleet.run_until(20'000);
  const Counts counts = fleet.stop();
  const auto half_opened = static_cast<std::uint64_t>((Clock::now() - begin) / open_for);
  // Before it opened, each client sent at most one attempt.
  EXPECT_LE(counts.attempts, 100 + 2 * 3 * half_opened);
  EXPECT_GT(counts.attempts, 2 * 6);
  EXPECT_GT(counts.not_sent, 10'000);
}

// Two processes, each with at most ten attempts in flight, for a hundred clients.
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

// Nearly everything is throttled, so the rate falls to its minimum. Tokens come one at a time. Each
// serves one waiting client, and none is lost or used twice. The clients wait in a queue, and all
// of them end when the fleet stops.
TEST(FleetRate, SendsOneAttemptForEachToken) {
  const ServerUnderTest server({"--rate-limit=0.001", "--rate-burst=1"});
  RunningFleet fleet(server.url(),
                     "client-rate = aws-adaptive\nrate-min = 40\nclients-per-process = 100\n");
  // The first attempts were sent before anything was throttled.
  fleet.run_until(120);
  const TimePoint begin = Clock::now();
  const std::uint64_t before = fleet.counts().attempts;
  fleet.run_until(200);
  const std::uint64_t sent = fleet.counts().attempts - before;
  // On a busy machine, some attempts allowed before `begin` are counted after it. Tokens used twice
  // would cause many more.
  EXPECT_LE(static_cast<double>(sent), 1.25 * 40 * to_seconds(Clock::now() - begin) + 2);
  EXPECT_EQ(fleet.stop().not_sent, 0);
}

// A trace of all requests matches the counts, also if the breaker refuses attempts and clients are
// interrupted.
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

// Threads start, wait and end while requests begin, fail and are retried.
TEST(FleetArrivals, AccountForEverything) {
  const ServerUnderTest server({"--base-delay=2ms", "--shed-above=2"});
  for (const char* parts : {"",
                            "retry-budget = aws\nbreaker = polly\nbreaker-open-for = 20ms\n"
                            "concurrency-limit = aimd:20\n"}) {
    RunningFleet fleet(server.url(),
                       "arrivals = open\nrate = 2000\nprocesses = 7\n" + std::string(parts));
    fleet.run_until(3000);
    const Counts counts = fleet.stop();
    EXPECT_GT(counts.ok, 0);
    EXPECT_GT(counts.errors, 0);
  }
}

// The k-th request does not begin before the k-th arrival time of the seed, whatever the results of
// the earlier requests, and no later than the reported lag allows.
TEST(FleetArrivals, ComeAtTheirTimes) {
  const ServerUnderTest server({"--base-delay=5ms"});
  constexpr std::size_t kRate = 500 / kSlowness;
  RunningFleet fleet(
      server.url(), "arrivals = open\nmax-retries = 0\nrate = " + std::to_string(kRate) + "\n",
      1'000'000, 1000);  // threads for all of them: this machine may halt for a while
  fleet.run_until(kRate);
  fleet.stop();
  std::vector<Duration> begun;
  for (auto take : {&SharedTrace::take_finished, &SharedTrace::take_rest}) {
    for (const TracedRequest& each : (fleet.trace()->*take)()) begun.push_back(each.t);
  }
  ASSERT_GE(begun.size(), kRate);
  std::sort(begun.begin(), begun.end());
  const ArrivalLag arrival_lag = fleet.arrival_lag();
  EXPECT_EQ(arrival_lag.dropped_arrivals, 0);
  OpenArrivals arrivals(1, kRate);
  Duration due{0};
  for (const Duration each : begun) {
    due += arrivals.next_gap();
    EXPECT_GE(each, due);
    // Its thread may be interrupted between the two readings of the clock.
    EXPECT_LE(each, due + arrival_lag.latest_start + 1s * kSlowness);
  }
}

// 300,000 arrivals a second are more than any machine begins, each on a thread: they fall behind.
TEST(FleetArrivals, AreLateWhereTheMachineDoesNotKeepUp) {
  const ServerUnderTest server({"--base-delay=5ms"});
  RunningFleet fleet(server.url(), "arrivals = open\nmax-retries = 0\nrate = 300000\n");
  EXPECT_TRUE(eventually([&] { return fleet.arrival_lag().late_starts > 100; }));
  EXPECT_GE(fleet.arrival_lag().latest_start, ArrivalLag::kLate);
}

// The server never answers, so every request keeps its thread.
TEST(FleetArrivals, AreCountedWhenThereIsNoThreadForThem) {
  const Listener silent;
  RunningFleet fleet(silent.url(), "arrivals = open\nrate = 5000\ntimeout = 1h\n");
  EXPECT_TRUE(eventually([&] { return fleet.arrival_lag().dropped_arrivals > 1000; }));
  const Counts counts = fleet.counts();
  EXPECT_EQ(counts.requests, RunningFleet::kThreads);
  EXPECT_EQ(fleet.clients().thinking, 0);
  EXPECT_TRUE(eventually([&] { return fleet.clients().in_flight == RunningFleet::kThreads; }));
  // All are under way, and the longest has been for longer than the others.
  const RequestTimes times = fleet.request_times();
  EXPECT_EQ(times.so_far.count(), RunningFleet::kThreads);
  EXPECT_TRUE(times.quantile(0.5)->or_more);
  EXPECT_EQ(fleet.stop().finished(), 0);
  EXPECT_EQ(fleet.request_times().so_far.count(), RunningFleet::kThreads);
  EXPECT_GE(fleet.request_times().max()->time, times.max()->time);
}

TEST(FleetTls, ShakesHandsInManyThreads) {
  const TlsServer server(Certificate("DNS:localhost"));
  RunningFleet fleet(server.url("localhost"), "lambda = 10ms\n");
  fleet.run_until(300);
  const Counts counts = fleet.stop();
  EXPECT_GT(counts.ok, 0);
}

// The clients are interrupted during the handshake.
TEST(FleetTls, EndsWhenNobodyAnswersTheHandshake) {
  const Listener silent(4096);
  RunningFleet fleet("https://127.0.0.1:" + std::to_string(silent.port()) + "/", "timeout = 1h\n");
  EXPECT_TRUE(eventually([&] { return fleet.clients().in_flight > 90; }));
  EXPECT_EQ(fleet.stop().finished(), 0);
}

}  // namespace
}  // namespace retrystorm::test
