// Hedged requests of real clients: the same share and latencies as in theory and in the simulator.
#include "client/fleet.h"
#include "tests/support/child_process.h"
#include "tests/support/given.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"
#include "tests/validation/observed_run.h"

namespace retrystorm::test {
namespace {

struct Hedged {
  Counts counts;
  RequestTimes times;
};

// Runs clients with these lines of `name = value` for a while.
Hedged run(const std::string& url, const std::string& settings, Duration length) {
  std::signal(SIGPIPE, SIG_IGN);
  WorkloadOptions workload = options_from<WorkloadOptions>("strategy = none\n" + settings);
  Fleet fleet(workload, 1, make_request({.url = url}), {.max_threads = 200});
  fleet.start();
  std::this_thread::sleep_for(length);
  fleet.stop();
  const FleetTotals totals = fleet.totals();
  EXPECT_EQ(totals.clients.in_flight, 0);
  EXPECT_EQ(totals.clients.waiting_to_retry, 0);
  return {totals.counts, fleet.history().latencies.requests()};
}

double share(const Counts& counts) {
  return static_cast<double>(counts.hedges) / static_cast<double>(counts.requests);
}

// Exponential times of 100 ms, and a hedge at their median: half of the requests have one, and the latencies
// beyond it fall twice as fast. Of 3,200 requests the first quartile, which is known worst, has a standard deviation of
// 3.5 %.
TEST(HedgedFleet, HedgesAsOftenAsTheSimulator) {
  if (kSlowness > 1) GTEST_SKIP() << "a sanitizer's threads are late";
  const ServerUnderTest server(
      {"--service=workers", "--workers=1000", "--service-time=exponential:100ms"});
  const Hedged real =
      run(server.url(), "arrivals = open\nrate = 400\nhedge = 69.3ms\ntimeout = 10s\n", 8s);
  const validation::ObservedRun simulated = validation::observe(
      {.options =
           given("service=workers, workers=1000, service-time=exponential:100ms, arrivals=open, "
                 "rate=400, strategy=none, hedge=69.3ms, timeout=10s, outage-for=0s")},
      1);
  const Counts& counts = simulated.summary.counts;
  EXPECT_NEAR(share(real.counts), 0.5, 0.06);
  EXPECT_NEAR(share(real.counts), share(counts), 0.06);
  EXPECT_NEAR(static_cast<double>(real.counts.hedges_won) / static_cast<double>(real.counts.hedges),
              0.5, 0.06);
  const auto quantile = [](const RequestTimes& times, double q) {
    return to_seconds(times.quantile(q)->time);
  };
  const RequestTimes expected = simulated.summary.latencies.requests();
  for (const double q : {0.25, 0.5, 0.9}) {
    EXPECT_NEAR(quantile(real.times, q), quantile(expected, q), 0.15 * quantile(expected, q)) << q;
  }
}

// Everything is accounted for, on new and kept connections, whether losers are cancelled or not.
TEST(HedgedFleet, EndsWithNothingUnderWay) {
  for (const std::string settings :
       {"", "hedge-cancel = no\n", "connections = keep-alive\npool-size = 20\n",
        "retry-budget = envoy\nconcurrency-limit = fixed:30\n"}) {
    const ServerUnderTest server(
        {"--service=workers", "--workers=20", "--service-time=exponential:20ms"});
    const Hedged real =
        run(server.url(), "clients = 40\nlambda = 100ms\nhedge = 10ms\nhedge-max = 2\n" + settings,
            1500ms);
    EXPECT_GT(real.counts.hedges, 0u) << settings;
    EXPECT_GT(real.counts.hedges_won, 0u) << settings;
    EXPECT_LE(real.counts.requests - real.counts.ok - real.counts.gave_up(), 40u) << settings;
  }
}

// Envoy's hedge_on_per_try_timeout: the answer of the late attempt counts.
TEST(HedgedFleet, KeepsTheLateAttemptBesideItsRetry) {
  const ServerUnderTest server({"--service=workers", "--workers=100", "--service-time=300ms"});
  const Hedged real =
      run(server.url(),
          "clients = 5\nlambda = 50ms\ntimeout = 200ms\nmax-retries = 1\ngrowth = none\n"
          "hedge-on = timeout\n",
          3s);
  EXPECT_GT(real.counts.ok, 20u);
  EXPECT_EQ(real.counts.timed_out, 0u);
  EXPECT_EQ(real.counts.hedges_won, 0u) << "the first attempt always answers first";
  EXPECT_NEAR(share(real.counts), 1, 0.1);
  EXPECT_LT(to_seconds(real.times.quantile(0.5)->time), 0.4);
}

// A job that the real programs and the simulator run in the same way.

// A table of 100 units a second, with minutes shortened to 0.1 s, and a job of a few seconds.
const Arguments kService{"--base-delay=5ms",
                         "--limit=1000",
                         "--rate-limit=100",
                         "--rate-burst=10s",
                         "--throttle-status=400",
                         "--hint=none",
                         "--autoscale=target-tracking",
                         "--autoscale-period=200ms",
                         "--autoscale-out-after=400ms",
                         "--autoscale-in-after=3s",
                         "--autoscale-delay=200ms",
                         "--autoscale-most=400"};
const Arguments kJob{"--arrivals=job",   "--clients=20",      "--tasks=20",
                     "--calls=150",      "--seed=1",          "--workers-start=50ms",
                     "--strategy=fixed", "--fixed-delay=50ms"};

TEST(RealJob, TakesAsLongAsTheSimulatedOne) {
  const TempDir dir;
  ChildProcess simulated(RETRYSTORM_SIMULATE,
                         kService + kJob + Arguments{"--json", dir.file("simulated")});
  ASSERT_EQ(simulated.exit_code(), 0) << simulated.err();
  const ServerUnderTest server(kService);
  succeeded(RETRYSTORM_CLIENT,
            Arguments{"--url", server.url(), "--duration=60s", "--json", dir.file("real")} + kJob);
  const auto expected = read_json_lines(dir.file("simulated")).back();
  const auto measured = read_json_lines(dir.file("real")).back();
  EXPECT_EQ(measured["job"]["done"], 3000);
  EXPECT_EQ(measured["requests"], 3000);
  EXPECT_EQ(measured["ok"], 3000);
  EXPECT_EQ(measured["verdict"], "no outage");
  EXPECT_GT(measured["job"]["throttled_share"], 0);
  if (RETRYSTORM_SANITIZED) return;  // what follows is a time
  const double makespan = expected["job"]["makespan_s"];
  EXPECT_NEAR(measured["job"]["makespan_s"].get<double>(), makespan, 0.05 * makespan);
}

}  // namespace
}  // namespace retrystorm::test
