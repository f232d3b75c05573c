// Kept connections, in whole runs. (`scripts/validate` compares pools with closed forms.)

#include "simulator/scenario_options.h"
#include "simulator/server_node.h"
#include "simulator/simulation.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

struct KeptRun final : RunObserver {
  SimulationResult result;
  std::vector<RunInterval> intervals;
  void on_interval(const RunInterval& interval) override { intervals.push_back(interval); }

  const Counts& counts() const { return result.summary.counts; }
  const KeptConnections& kept_at_end() const { return *intervals.back().clients.kept; }
};

KeptRun kept_run(const std::string& settings, std::uint64_t seed = 1) {
  ScenarioOptions options = options_from(settings);
  KeptRun run;
  run.result = Simulation(make_scenario(options, seed), {.run = {&run}}).run();
  return run;
}

// One attempt at a time over one connection, a client that waits 30 ms in line at most, and another
// that always has it: a hundred milliseconds of service.
TEST(KeptConnections, FailAnAttemptThatHasWaitedInLineForTooLong) {
  const std::string settings =
      "connections = keep-alive\nclients = 2\nclients-per-process = 2\nlambda = 0s\npool-size = 1\n"
      "base-delay = 100ms\nlimit = 10\nstrategy = fixed\nbackoff-base = 70ms\noutage-for = 0s\n"
      "outage-at = 10s\nobserve = 0s\n";
  const KeptRun fails = kept_run(settings + "pool-wait = 30ms\n");
  EXPECT_EQ(fails.result.peak_concurrency, 1u);
  EXPECT_GT(fails.counts().errors, 50u);
  EXPECT_EQ(fails.counts().timed_out, 0u);
  // The timeout ends the wait in the same way, unless it does not include it.
  const KeptRun times_out = kept_run(settings + "timeout = 150ms\n");
  EXPECT_GT(times_out.counts().timed_out, 10u);
  EXPECT_EQ(times_out.counts().errors, 0u);
  const KeptRun waits = kept_run(settings + "timeout = 150ms\npool-wait-counts = no\n");
  EXPECT_EQ(waits.counts().failures(), 0u);
  EXPECT_GE(waits.counts().ok, 99u);
}

// Clients that retry at once, for a connection that is always in use: a process needs 100 µs for each attempt
// that it cannot send, however many clients it has.
TEST(KeptConnections, CostAProcessTimeIfItCannotHaveOne) {
  const KeptRun run = kept_run(
      "connections = keep-alive\nclients = 100\nprocesses = 1\nlambda = 0s\npool-size = 1\npool-wait = 0s\n"
      "base-delay = 100ms\nstrategy = fixed\nbackoff-base = 0s\noutage-for = 0s\noutage-at = 10s\n"
      "observe = 0s\ntimeout = 20s\n");
  EXPECT_LE(run.counts().errors, 100'001u);
  EXPECT_GT(run.counts().errors, 98'000u);
  EXPECT_EQ(run.counts().timed_out, 0u);
  EXPECT_EQ(run.kept_at_end().in_line, 0u);
  EXPECT_EQ(run.kept_at_end().waited, 0u);
}

// Five connections to a service that never answers, so that it holds all that was sent. An attempt has its
// connection for all of its second, for what the wait in line has left of it, or only for the last moment.
TEST(KeptConnections, LetThroughWhatTheirTimeoutsAndWaitsAllow) {
  const auto sent = [](const std::string& more) {
    return static_cast<double>(
        kept_run(
            "connections = keep-alive\npool-size = 5\nclients = 50\nprocesses = 1\nlambda = 0s\n"
            "service = workers\nworkers = 1000\nservice-time = 1h\ntimeout = 1s\n"
            "strategy = fixed\nfixed-delay = 400ms\noutage-for = 0s\noutage-at = 10s\n"
            "observe = 0s\n" +
            more)
            .result.peak_concurrency);
  };
  EXPECT_NEAR(sent("pool-wait-counts = no\n"), 5 * 10, 5);
  const double waits = sent("pool-wait = 300ms\n");
  EXPECT_LE(waits, 5 * 10 / 0.7 + 5);
  EXPECT_GT(waits, 5 * 10 + 5);
  // Nearly all: 50 clients, once in 1.4 s each.
  EXPECT_NEAR(sent(""), 50 * 10 / 1.4, 40);
}

// Each client makes one attempt, which waits as long as the freeze lasts, also for a place in the accept queue.
TEST(Simulation, WithoutATimeoutHoldsEachClientUntilItIsAnswered) {
  const std::string settings =
      "service = workers\nworkers = 20\nservice-time = 50ms\nbacklog = 32\nclients = 600\nlambda = 2s\n"
      "timeout = none\nstrategy = fixed\noutage-at = 20s\noutage-for = 10s\n";
  for (const char* connections : {"new", "keep-alive", "multiplexed"}) {
    const KeptRun run = kept_run(settings + "observe = 30s\nconnections = " + connections + '\n');
    EXPECT_EQ(run.counts().failures(), 0u) << connections;
    EXPECT_EQ(run.counts().retries, 0u) << connections;
    EXPECT_EQ(run.result.summary.on_waking->stale, 0u) << connections;
    EXPECT_NE(run.result.summary.recovery.verdict, Verdict::kCollapsed) << connections;
  }
  // A connection that is lost ends the wait, and so does a request's deadline.
  EXPECT_GT(kept_run(settings + "observe = 5s\noutage = drop\n").counts().retries, 100u);
  const KeptRun ends = kept_run(settings + "observe = 5s\ndeadline = 3s\n");
  EXPECT_GT(ends.counts().timed_out, 100u);
  EXPECT_EQ(ends.counts().retries, 0u);
}

TEST(Simulation, RefusesToRetryOnlyTimeoutsWithoutOne) {
  EXPECT_THROW(kept_run("timeout = none\nretry-on = timeout\n"), std::invalid_argument);
}

// 600 clients with a connection each, and a freeze of 10 s: the case of a trial with real sockets.
const std::string kKeptFreeze =
    "service = workers\nworkers = 20\nservice-time = 50ms\nbacklog = 32\nclients = 600\n"
    "clients-per-process = 1\nlambda = 2s\ntimeout = 1s\nstrategy = fixed\nfixed-delay = 400ms\n"
    "outage-at = 20s\noutage-for = 10s\n";

// At the moment of waking the places have what the server then finds, and what it cannot see is still at the clients.
TEST(AttemptPlaces, AreAllThatIsUnderWay) {
  for (const char* connections : {"new", "keep-alive", "multiplexed"}) {
    ScenarioOptions options = options_from(
        kKeptFreeze + "observe = 10s\npool-size = 1\nstreams = 1\nconnections = " + connections +
        '\n');
    Scenario scenario = make_scenario(options, 1);
    KeptRun run;
    std::vector<AttemptPlaces> at_30_s;
    run.result =
        Simulation(scenario, {.run = {&run},
                              .places =
                                  [&](Duration t, const auto& services) {
                                    ASSERT_EQ(services.size(), 1u);
                                    const AttemptPlaces& each = services[0];
                                    if (t == 30s) at_30_s.push_back(each);
                                    const auto alive = [](const AttemptPlaces::Place& place) {
                                      return place.all - place.stale;
                                    };
                                    const std::size_t all =
                                        each.at_caller + alive(each.accept_queue) +
                                        alive(each.buffers) + alive(each.service);
                                    if (run.intervals.empty() || run.intervals.back().t != t)
                                      return;
                                    EXPECT_EQ(all, run.intervals.back().clients.in_flight);
                                  }})
            .run();
    ASSERT_EQ(at_30_s.size(), 1u);
    const FoundOnWaking found = *run.result.summary.on_waking;
    EXPECT_EQ(at_30_s[0].accept_queue.all, found.accept_queue);
    EXPECT_EQ(at_30_s[0].buffers.all, found.kept);
    EXPECT_EQ(at_30_s[0].accept_queue.stale + at_30_s[0].buffers.stale, found.stale);
    EXPECT_EQ(at_30_s[0].accept_queue.all, std::string(connections) == "multiplexed" ? 0u : 33u);
  }
}

// All attempts of the freeze lie there: of each client that thinks when it begins, one after T (exponential, 2 s),
// and one each 1.4 s from then on; of each client that waits, one each 1.4 s.
TEST(KeptConnections, LeaveAllAttemptsOfTheFreezeIfTheyAreMultiplexed) {
  const double busy = 600 / (2 + 0.05) * 0.05;
  double attempts = 0;
  for (double left = 10; left > 0; left -= 1.4) attempts += 1 - std::exp(-left / 2);
  const double all = (600 - busy) * attempts + busy * 7;
  const KeptRun run = kept_run(
      kKeptFreeze + "observe = 1ms\nconnections = multiplexed\nclients-per-process = 100\n");
  const FoundOnWaking found = *run.result.summary.on_waking;
  // A client's number of attempts varies with T: by 2 s / 1.4 s.
  EXPECT_NEAR(static_cast<double>(found.kept), all, 3 * std::sqrt(600) * 2 / 1.4);
  EXPECT_EQ(found.accept_queue, 0u);
  EXPECT_EQ(run.kept_at_end().opened, 6u);
}

// What the service does with requests for nobody decides all: with new connections it comes back either way. 600/(1 + 0.4)
// = 428/s are more than the 400/s that the service can do.
TEST(KeptConnections, KeepDownAServiceUnlessRequestsForNobodyAreSkipped) {
  for (const std::string kept :
       {"connections = keep-alive\n", "connections = multiplexed\nclients-per-process = 100\n"}) {
    const std::string settings = kKeptFreeze + "observe = 60s\n";
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      EXPECT_EQ(kept_run(settings, seed).result.summary.recovery.verdict, Verdict::kRecovered);
      const KeptRun down = kept_run(settings + kept, seed);
      EXPECT_EQ(down.result.summary.recovery.verdict, Verdict::kCollapsed) << kept;
      EXPECT_LT(down.intervals.back().rates.ok, 3) << kept;
      const KeptRun skips = kept_run(settings + kept + "abandoned = skip\n", seed);
      EXPECT_EQ(skips.result.summary.recovery.verdict, Verdict::kRecovered) << kept;
      EXPECT_LE(skips.result.summary.recovery.time_to_recovery, 5s) << kept;
    }
  }
}

// A freeze leaves 630 attempts on each of six connections, and 1/1.4 of the 600 clients wait for an answer. A server that
// takes ten resets of a connection reads ten requests of each, and closes all six.
TEST(KeptConnections, AreClosedByAServerThatLimitsResets) {
  const std::string settings =
      kKeptFreeze + "observe = 20ms\nclients-per-process = 100\nconnections = multiplexed\n";
  const double waiting = 600 / 1.4;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const KeptRun closed = kept_run(settings + "reset-limit = 10:33\nretry-lost = no\n", seed);
    EXPECT_NEAR(static_cast<double>(closed.counts().errors), waiting, 4 * std::sqrt(waiting));
    EXPECT_GE(closed.result.peak_concurrency, 6u * 10);
    EXPECT_LE(closed.result.peak_concurrency, 6u * 10 + 60);  // and those that come meanwhile
    // What was lost is sent again, on six new connections.
    const KeptRun again = kept_run(settings + "reset-limit = 10:33\n", seed);
    EXPECT_EQ(again.result.summary.kept->sent_again, closed.counts().errors);
    EXPECT_EQ(again.counts().errors, 0u);
    EXPECT_EQ(again.result.summary.kept->opened, 12u);
    const KeptRun open = kept_run(settings + "reset-limit = 1000:33\n", seed);
    EXPECT_EQ(open.counts().errors, 0u);
    EXPECT_EQ(open.kept_at_end().opened, 6u);
    EXPECT_GT(open.result.peak_concurrency, 3'000u);
  }
}

// Five clients of one process time out each 200 ms against a service that never answers: 25 resets a second. Of
// these 20 + 10/s are taken: the bucket is empty after 20/(25 - 10) s.
TEST(ResetLimit, IsABucketThatFillsWithTime) {
  ResetLimit limit(20, 10);
  const auto at = [](double seconds) { return TimePoint{} + from_seconds(seconds); };
  int taken = 0;
  for (int i = 0;; ++i) {
    if (limit.take(at(i / 25.), 0, 1) == 0) break;
    ++taken;
  }
  EXPECT_NEAR(taken, 20 * 25 / (25 - 10), 2);
  EXPECT_EQ(limit.take(at(10), 0, 15), 15u);  // a new connection begins with a full bucket
  EXPECT_EQ(limit.take(at(10), 1, 25), 20u);
}

TEST(ResetLimit, HasTheRulesOfServersByName) {
  ScenarioOptions options;
  OptionList list;
  declare_options(list, options);
  list.apply("reset-limit = nghttp2\n");
  EXPECT_EQ(options.service.reset_limit, 1000u);
  EXPECT_EQ(options.service.reset_rate, 33);
  list.apply("reset-limit = varnish\n");
  EXPECT_EQ(options.service.reset_limit, 100u);
  EXPECT_NEAR(options.service.reset_rate, 100 / 60., 0.01);
  list.apply("reset-limit = 200:300/min\n");
  EXPECT_EQ(options.service.reset_limit, 200u);
  EXPECT_EQ(options.service.reset_rate, 5);
  EXPECT_EQ(list.find("reset-limit")->get(), "200:5");
  list.apply("reset-limit = none\n");
  EXPECT_EQ(options.service.reset_limit, ServiceOptions::kUnlimitedResets);
  for (const char* wrong : {"apache", "10", "0:1", "10:-1", "10:x", "1:2:3", ""}) {
    EXPECT_THROW(list.set("reset-limit", wrong), std::invalid_argument) << wrong;
  }
}

// After a restart each process has one again. What was under way on the lost ones fails.
TEST(KeptConnections, IfMultiplexedAreLostWithAllTheirAttempts) {
  const KeptRun run = kept_run(
      "connections = multiplexed\nclients = 100\nclients-per-process = 10\nlambda = 1s\nbase-delay = 1s\n"
      "outage-for = 0s\noutage-at = 60s\nobserve = 0s\nlimit = 1000\nat = 30s restart\n"
      "retry-lost = no\n");
  EXPECT_EQ(run.kept_at_end().opened, 20u);
  EXPECT_EQ(run.kept_at_end().open, 10u);
  EXPECT_NEAR(static_cast<double>(run.counts().errors), 50, 15);  // half of the time a client waits
}

// Ten processes of one client each, and room for five connections. An idle one makes room for an attempt that
// needs another.
TEST(KeptConnections, CountAmongThoseThatTheServerAccepts) {
  const std::string settings =
      "clients = 10\nclients-per-process = 1\nlambda = 1s\nmax-connections = 5\nlimit = 10\n"
      "outage-for = 0s\noutage-at = 60s\nobserve = 0s\ntimeout = 900ms\n";
  const KeptRun kept = kept_run(settings + "connections = keep-alive\n");
  EXPECT_EQ(kept.counts().timed_out, 0u);
  EXPECT_LE(kept.kept_at_end().idle, 5u);
  EXPECT_LT(kept.kept_at_end().opened, kept.counts().attempts);
  EXPECT_GT(kept.kept_at_end().opened, kept.counts().attempts / 4);
  // With room for all nobody connects twice.
  EXPECT_EQ(
      kept_run(settings + "connections = keep-alive\nmax-connections = 10\n").kept_at_end().opened,
      10u);
}

// As networks take no time, it does not matter who closes them. A client's request needs a new one if the client
// has thought for longer.
TEST(KeptConnections, AreClosedByTheServerAsByTheClient) {
  const std::string settings =
      "connections = keep-alive\nclients = 100\nclients-per-process = 1\nlambda = 1s\noutage-for = 0s\n"
      "outage-at = 60s\nobserve = 0s\n";
  const KeptRun by_server = kept_run(settings + "server-idle = 300ms\n");
  const KeptRun by_client = kept_run(settings + "pool-idle = 300ms\n");
  EXPECT_EQ(by_server.counts().ok, by_client.counts().ok);
  EXPECT_EQ(by_server.kept_at_end().opened, by_client.kept_at_end().opened);
  EXPECT_NEAR(static_cast<double>(by_server.kept_at_end().opened) /
                  static_cast<double>(by_server.counts().requests),
              std::exp(-0.3), 0.03);
}

// A frozen server closes none. 600/2.05 connections a second become idle, and each is used after a time that is
// exponential with a mean of 2 s. So those idle for less than 1 s when it freezes are still used later.
TEST(KeptConnections, AreNotClosedByAFrozenServer) {
  const double rate = 600 / (2 + 0.05);
  const double idle = rate * 2 * (1 - std::exp(-1 / 2.0));
  const std::string until_waking = kKeptFreeze + "observe = 1ms\nconnections = keep-alive\n";
  const auto found = [&](const std::string& more) {
    return static_cast<double>(kept_run(until_waking + more).result.summary.on_waking->kept);
  };
  const double by_server = idle * (1 - std::exp(-10 / 2.0));
  EXPECT_NEAR(found("server-idle = 1s\n"), by_server, 3 * std::sqrt(by_server));
  // Clients close theirs as before: one idle for a is used within 1 - a.
  const double by_client = idle - rate * std::exp(-1 / 2.0);
  EXPECT_NEAR(found("pool-idle = 1s\n"), by_client, 3 * std::sqrt(by_client));
}

// A client opens one, and another one after the loss.
TEST(KeptConnections, AreAllLostWhenTheClientsReconnect) {
  const KeptRun run = kept_run(
      "connections = keep-alive\nclients = 100\nclients-per-process = 1\nlambda = 1s\n"
      "outage = reconnect\noutage-at = 30s\noutage-for = 1s\nobserve = 30s\nlimit = 1000\n"
      "reconnect-base = 100ms\n");
  EXPECT_EQ(run.result.summary.reconnect->back, 100u);
  EXPECT_NEAR(static_cast<double>(run.kept_at_end().opened), 200, 2);
  EXPECT_LE(run.kept_at_end().open, 100u);
}

// Ten clients share one connection, which is always in use. Nobody loses a place in line.
TEST(KeptConnections, AreLostByTheAttemptsThatHaveOneOnly) {
  const KeptRun run = kept_run(
      "connections = keep-alive\nclients = 10\nclients-per-process = 10\npool-size = 1\n"
      "lambda = 1s\nbase-delay = 1s\ntimeout = 1m\nretry-lost = no\n"
      "outage = reconnect\noutage-at = 30s\noutage-for = 1s\nobserve = 30s\n");
  EXPECT_EQ(run.counts().errors, 1u);
  EXPECT_EQ(run.kept_at_end().opened, 2u);
  EXPECT_EQ(run.kept_at_end().open, 1u);
}

// One client without a think time, a service of 1 s: its 31st request is under way at 30.5 s. It began 30 turnarounds
// of 100 µs after 30 s.
const std::string kOneAtATime =
    "clients = 1\nlambda = 0s\nstrategy = none\nbase-delay = 1s\nlimit = 10\ntimeout = 1h\n"
    "outage-for = 0s\noutage-at = 40s\nobserve = 0s\n";
const std::string kRestart = "at = 30.5s restart\n";

TEST(LostAttempts, AreSentAgainAtOnce) {
  for (const char* connections : {"keep-alive", "multiplexed"}) {
    const std::string settings = kOneAtATime + kRestart + "connections = " + connections + '\n';
    const KeptRun run = kept_run(settings);
    EXPECT_EQ(run.counts().errors, 0u) << connections;
    EXPECT_EQ(run.counts().retries, 1u);
    EXPECT_EQ(run.counts().attempts, run.counts().requests + 1);
    EXPECT_EQ(run.counts().ok, 39u);  // half a second is lost
    EXPECT_EQ(run.kept_at_end().sent_again, 1u);
    EXPECT_EQ(run.kept_at_end().opened, 2u);
    EXPECT_EQ(run.kept_at_end().open, 1u);
    const KeptRun fails = kept_run(settings + "retry-lost = no\n");
    EXPECT_EQ(fails.counts().errors, 1u);
    EXPECT_EQ(fails.counts().gave_up(), 1u);
    EXPECT_EQ(fails.kept_at_end().sent_again, 0u);
  }
  // An attempt that opened its connection for itself is not.
  EXPECT_EQ(kept_run(kOneAtATime + kRestart).counts().errors, 1u);
}

TEST(LostAttempts, HaveOneTimeoutForBoth) {
  for (const char* connections : {"keep-alive", "multiplexed"}) {
    const std::string settings = kOneAtATime + kRestart + "connections = " + connections + '\n';
    EXPECT_EQ(kept_run(settings + "timeout = 1.49s\n").counts().timed_out, 1u) << connections;
    EXPECT_EQ(kept_run(settings + "timeout = 1.51s\n").counts().timed_out, 0u) << connections;
  }
}

TEST(LostAttempts, FailIfTheSecondIsLostToo) {
  for (const char* connections : {"keep-alive", "multiplexed"}) {
    const std::string settings = kOneAtATime + "connections = " + connections + '\n';
    const KeptRun run = kept_run(settings + "at = 30.5s restart; 31s restart\n");
    EXPECT_EQ(run.counts().errors, 1u) << connections;
    EXPECT_EQ(run.kept_at_end().sent_again, 1u) << connections;
    // Nothing listens for a second after a server has dropped all connections.
    const KeptRun refused =
        kept_run(settings + "outage = drop\noutage-at = 30.5s\noutage-for = 1s\nobserve = 9s\n");
    EXPECT_GE(refused.counts().errors, 1u) << connections;
    EXPECT_EQ(refused.kept_at_end().sent_again, 1u) << connections;
  }
}

// Of a thousand clients that wait for an answer all come at once, through the accept queue.
TEST(LostAttempts, AreAHerdAfterARestart) {
  const std::string settings =
      "clients = 1000\nclients-per-process = 1\nlambda = 1s\nbase-delay = 1s\nlimit = 10000\n"
      "strategy = none\noutage-for = 0s\noutage-at = 40s\nobserve = 0s\nat = 30s restart\n"
      "connections = keep-alive\n";
  const KeptRun fails = kept_run(settings + "retry-lost = no\n");
  const KeptRun run = kept_run(settings + "backlog = 2000\n");
  EXPECT_NEAR(static_cast<double>(fails.counts().errors), 500, 3 * std::sqrt(250));
  EXPECT_EQ(run.kept_at_end().sent_again, fails.counts().errors);
  EXPECT_EQ(run.counts().failures(), 0u);
}

// A process keeps a connection to each host. The one that restarts loses its own: the attempt on it is sent again, over
// a connection to the next host.
TEST(KeptConnections, AreOfEachHost) {
  const std::string settings =
      "clients = 1\nlambda = 0s\nreplicas = 3\nservice = workers\nworkers = 1\nservice-time = 10ms\n"
      "strategy = none\noutage-for = 0s\noutage-at = 10s\nobserve = 0s\n";
  for (const std::string kind : {"keep-alive", "multiplexed"}) {
    const KeptRun calm = kept_run(settings + "connections = " + kind + "\n");
    EXPECT_EQ(calm.kept_at_end().opened, 3u);
    EXPECT_EQ(calm.kept_at_end().open, 3u);
    const KeptRun restarts =
        kept_run(settings + "connections = " + kind + "\nat = 5s restart host 2\n");
    EXPECT_EQ(restarts.kept_at_end().opened, 4u);
    EXPECT_EQ(restarts.kept_at_end().open, 3u);
    EXPECT_LE(restarts.kept_at_end().sent_again, 1u);
    EXPECT_EQ(restarts.counts().failures(), 0u);
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max(), most = 0;
    for (const HostInterval& each : restarts.result.summary.hosts->hosts) {
      least = std::min(least, each.attempts);
      most = std::max(most, each.attempts);
    }
    EXPECT_LE(most - least, 1u + restarts.kept_at_end().sent_again);
  }
}

// Also where there is one host, with a life: while it restarts, attempts are refused.
TEST(KeptConnections, OfOneHostThatRestartsAreMadeAnew) {
  const KeptRun run = kept_run(
      "arrivals = open\nrate = 100\nprocesses = 1\nservice = workers\nworkers = 10\nservice-time = 50ms\nstrategy = none\n"
      "connections = multiplexed\nhost-start = 5s\noutage-for = 0s\noutage-at = 20s\nobserve = 0s\nat = 10s restart\n");
  EXPECT_EQ(run.kept_at_end().opened, 2u);
  EXPECT_NEAR(static_cast<double>(run.counts().errors), 500, 80);
}

// A host that is drained answers what it has begun. What waits there is sent again elsewhere, and nothing fails.
TEST(KeptConnections, OfAHostThatIsDrainedAreGivenUp) {
  const KeptRun run = kept_run(
      "arrivals = open\nrate = 150\nreplicas = 3\nservice = workers\nworkers = 1\nservice-time = 10ms\n"
      "strategy = none\nconnections = multiplexed\noutage-for = 0s\noutage-at = 40s\nobserve = 0s\nhost-start = 5s\n"
      "at = 5s rolling-restart\n");
  EXPECT_EQ(run.counts().failures(), 0u);
  EXPECT_EQ(run.kept_at_end().opened, 6u);  // each host's, twice
  EXPECT_EQ(run.kept_at_end().open, 3u);
}

// What fails in line for a connection is no longer under way there: `least` goes on sending to each host.
TEST(KeptConnections, ThatAnAttemptFailsToGetCountForNoHost) {
  const KeptRun run = kept_run(
      "clients = 20\nclients-per-process = 20\nlambda = 100ms\nreplicas = 2\nservice = workers\nworkers = 4\n"
      "service-time = 50ms\nbalance = least\nstrategy = none\nconnections = keep-alive\npool-size = 2\npool-wait = 10ms\n"
      "outage-for = 0s\noutage-at = 60s\nobserve = 0s\n");
  EXPECT_GT(run.counts().errors, 1'000u);
  const HostIntervals& hosts = run.result.summary.hosts->hosts;
  EXPECT_NEAR(static_cast<double>(hosts[0].ok), static_cast<double>(hosts[1].ok),
              0.1 * static_cast<double>(hosts[1].ok));
  // Two connections each, of which each does 20/s at most.
  EXPECT_NEAR(static_cast<double>(run.counts().ok), 4 * 20 * 60, 0.1 * 4 * 20 * 60);
}

// Each host counts its own connections: with room for ten, and one of its own for each of thirty processes, it closes
// the one idle for longest; the other hosts' stay.
TEST(KeptConnections, FillEachHostByItself) {
  const std::string settings =
      "clients = 30\nclients-per-process = 1\nlambda = 1s\nreplicas = 3\nservice = workers\nworkers = 4\n"
      "service-time = 10ms\nstrategy = none\nconnections = keep-alive\noutage-for = 0s\noutage-at = 60s\nobserve = 0s\n";
  EXPECT_EQ(kept_run(settings + "max-connections = 30\n").kept_at_end().open, 90u);
  const KeptRun full = kept_run(settings + "max-connections = 10\n");
  EXPECT_EQ(full.counts().failures(), 0u);
  EXPECT_NEAR(static_cast<double>(full.kept_at_end().open), 30, 3);
}

// One of two hosts is frozen. Its streams are reset by timeouts, more than it takes when it wakes, and it closes its
// connection. That to the other host stays.
TEST(KeptConnections, ThatAreResetTooOftenAreOfOneHost) {
  const KeptRun run = kept_run(
      "arrivals = open\nrate = 100\nprocesses = 1\nreplicas = 2\nservice = workers\nworkers = 20\nservice-time = 50ms\n"
      "strategy = none\ntimeout = 1s\nconnections = multiplexed\nstreams = 1000\nreset-limit = 10:1\noutage = freeze\n"
      "outage-replicas = 1\noutage-at = 10s\noutage-for = 10s\nobserve = 10s\n");
  EXPECT_EQ(run.kept_at_end().opened, 3u);
  EXPECT_EQ(run.kept_at_end().open, 2u);
}

}  // namespace
}  // namespace retrystorm
