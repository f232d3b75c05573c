#include "simulator/simulation.h"

#include "common/output/line_report.h"
#include "simulate/program.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

Scenario scenario_of(const SimulatorOptions& options, std::uint64_t seed = 1) {
  return make_scenario(options, seed);
}

SimulationResult run(const Scenario& scenario) {
  return Simulation(scenario, {}).run();
}
SimulationResult run(const std::string& settings, std::uint64_t seed = 1) {
  return run(scenario_of(options_from<SimulatorOptions>(settings), seed));
}
Counts counts_of(const std::string& settings) {
  return run(settings).summary.counts;
}

// The intervals of the clients and of the service, and what all those of the service count.
struct Watched final : RunObserver, ServiceObserver {
  std::vector<RunInterval> clients;
  std::vector<ServerInterval> service;
  ServiceCounts counts;
  SimulationResult result;

  explicit Watched(const std::string& settings, std::optional<Duration> every = std::nullopt) {
    auto options = options_from<SimulatorOptions>(settings);
    if (every) options.report_interval = options.server_report_interval = *every;
    result = Simulation(scenario_of(options), {.run = {this}, .service = {this}}).run();
  }

  void on_interval(const RunInterval& interval) override { clients.push_back(interval); }
  void on_interval(Duration, Duration, const ServerInterval& interval) override {
    service.push_back(interval);
    counts.offered += interval.counts.offered;
    counts.admitted += interval.counts.admitted;
    counts.served += interval.counts.served;
    counts.completed += interval.counts.completed;
    counts.failed += interval.counts.failed;
    for (std::size_t i = 0; i < counts.rejected.size(); ++i) {
      counts.rejected[i] += interval.counts.rejected[i];
    }
  }
};

// Without an outage, for so long.
std::string calm(const std::string& time) {
  return "outage-for = 0s\noutage-at = 0s\nobserve = " + time + '\n';
}

// --- Theory ---------------------------------------------------------------------------------

TEST(Simulation, TakesTwoEventsForAnAttemptThatIsAnswered) {
  const SimulationResult result = run(calm("200s"));
  // It is sent and answered. Its timeout is no event. The rest are reports.
  EXPECT_LT(result.events, 2 * result.summary.counts.attempts + 1000);
}

TEST(Simulation, StormsAtTheRateOfTimeoutAndDelay) {
  const Watched run("strategy = fixed\nobserve = 600s\noutage-at = 0s\n");
  // The last window, five minutes after the collapse: 1000 / (2 s + 0.1 s), and nothing else. The
  // attempts of one client are 2.1 s apart, so that a window holds 2 or 3 of each.
  double mean = 0;
  for (auto i = run.clients.end() - 21; i != run.clients.end(); ++i) {
    mean += i->rates.timed_out / 21;
  }
  EXPECT_NEAR(mean, 476.2, 1);
}

TEST(Simulation, ReportsWhatTheClientsAreDoing) {
  const Watched run("strategy = fixed\nobserve = 600s\noutage-at = 100s\n", 1s);
  for (const RunInterval& each : run.clients) {
    EXPECT_EQ(each.clients.thinking + each.clients.in_flight + each.clients.waiting_to_retry, 1000);
  }
  // Before the outage a client thinks for 10 s of 10.1 s: 9.9 of them are in flight, with a deviation of 3.1.
  const ClientStates& before = run.clients.at(90).clients;
  EXPECT_NEAR(static_cast<double>(before.in_flight), 9.9, 4 * 3.1);
  EXPECT_EQ(before.waiting_to_retry, 0);
  // In the storm it waits for 0.1 s of each 2.1 s. Of 21 observations, one each second, one finds it waiting.
  double waiting = 0;
  for (auto i = run.clients.end() - 21; i != run.clients.end(); ++i) {
    EXPECT_EQ(i->clients.thinking, 0);
    waiting += static_cast<double>(i->clients.waiting_to_retry) / 21;
  }
  EXPECT_NEAR(waiting, 1000 / 21.0, 2);
}

TEST(Simulation, KeepsAnOpenStreamBelowTheGreatestThroughputAndLosesOneAboveIt) {
  // The curve serves at most 1246.9 requests a second (at a concurrency of 307.4).
  const std::string open =
      "strategy = exponential\narrivals = open\noutage-for = 0s\nobserve = 120s\nrate = ";
  EXPECT_EQ(counts_of(open + "1000\n").failures(), 0u);
  const Counts counts = counts_of(open + "1300\n");
  EXPECT_GT(counts.failures(), counts.ok);
}

TEST(Simulation, HasTheTimeOfARequestThatIsGivenUp) {
  // Open arrivals at a server that is frozen for good: five retries 100 ms later, each after a timeout of 2 s.
  const Summary summary = run("strategy = fixed\narrivals = open\nrate = 1\nmax-retries = 5\n"
                              "outage-at = 0s\noutage-for = 100s\nobserve = 0s\n")
                              .summary;
  EXPECT_GT(summary.counts.gave_up(), 10u);
  EXPECT_EQ(summary.counts.ok, 0u);
  EXPECT_EQ(summary.longest_without_ok, 6 * 2s + 5 * 100ms);
  EXPECT_EQ(summary.arrival_rate, 1);
}

// --- The kernel's part ----------------------------------------------------------------------

// Two clients send at once to a frozen server that has room for one connection.
const std::string kTwoClients =
    "clients = 2\nlambda = 0s\ntimeout = 60s\nbase-delay = 1s\nbacklog = 0\n"
    "outage-at = 0s\noutage-for = 1500ms\n";
const std::string kOneClient = kTwoClients + "clients = 1\n";

TEST(Simulation, HoldsOneConnectionMoreThanTheBacklogAndRepeatsTheSynOfTheOther) {
  // The first one is accepted at 1.5 s and answered at 2.5 s. Then it sends again. The SYN of the second one
  // is repeated after 1.01 s, without success, and after 2.02 s. It is then accepted, and answered at 3.02 s.
  const Summary early = run(kTwoClients + "observe = 1519ms\n").summary;
  EXPECT_EQ(early.counts.ok, 1u);
  EXPECT_EQ(early.latencies.attempts().max(), 2500ms);
  const Summary late = run(kTwoClients + "observe = 1521ms\n").summary;
  EXPECT_EQ(late.counts.ok, 2u);
  EXPECT_EQ(late.latencies.attempts().max(), 3020ms);
}

TEST(Simulation, ReportsHowLongRequestsWereInTheService) {
  // One client: each request is in the service for 250 ms, in time for one timeout and too late for the other.
  for (const bool in_time : {true, false}) {
    const Watched run(kOneClient +
                          "base-delay = 250ms\noutage-for = 0s\nobserve = 100s\ntimeout = " +
                          (in_time ? "1s\n" : "200ms\n"),
                      100s);
    ASSERT_FALSE(run.service.empty());
    const ServiceTimes& times = run.service.front().times;
    const LatencyQuantiles& there = in_time ? times.served : times.late;
    const LatencyQuantiles& not_there = in_time ? times.late : times.served;
    EXPECT_NEAR(to_seconds(there.p50.value()), 0.25, 0.001);
    EXPECT_NEAR(to_seconds(there.p99.value()), 0.25, 0.001);
    EXPECT_EQ(not_there.p50, std::nullopt);
  }
}

// Clients that wait exactly as long as the server's hint come back spread as the hints are. With a hint of 1
// to 3 s, and if no request is served, a client makes one attempt every 2 s on average.
TEST(Simulation, ClientsFollowTheHintsOfTheServer) {
  // They begin after 10 s of think time on average. One is served, and thinks again.
  constexpr double kTime = 100 * (2030 - 10);
  for (const auto& [hint, every] : {std::pair("hint = fixed\nhint-for = 4s\n", 4.),
                                    {"hint = spread\nhint-for = 1s\nhint-to = 3s\n", 2.},
                                    // Without a hint they wait for their own 100 ms.
                                    {"hint = none\n", 0.1}}) {
    const Counts counts =
        counts_of(std::string("outage-for = 0s\nobserve = 2000s\nrate-limit = 1e-9\n"
                              "clients = 100\nretry-after = replace\n") +
                  hint);
    EXPECT_NEAR(static_cast<double>(counts.retries), kTime / every, kTime / every * 0.01) << hint;
  }
}

TEST(Simulation, ServesTheRequestsOfClientsThatHaveHungUp) {
  // One client, whose attempts time out after 0.4 s and come again after 0.1 s. All of the 3 s
  // outage's attempts (the 7th at 3 s) are in the accept queue, and all are served at its end.
  const std::string waiting =
      kOneClient + "timeout = 400ms\nbacklog = 100\noutage-for = 3s\nobserve = 50ms\n";
  EXPECT_EQ(run(waiting).peak_concurrency, 7u);
  EXPECT_EQ(run(waiting + "abandoned = skip\n").peak_concurrency, 1u);
}

TEST(Simulation, CancelsWhatItsClientHasLeft) {
  // Each attempt times out in the service: served to the end, ten would be there at a time.
  const std::string late =
      kOneClient + "timeout = 100ms\nbackoff-base = 0s\noutage-for = 0s\nobserve = 10s\n";
  EXPECT_EQ(run(late).peak_concurrency, 10u);
  EXPECT_EQ(run(late + "abandoned = cancel\n").peak_concurrency, 1u);
}

struct Hearer final : Caller {
  bool waits = true;
  bool waits_for(const Attempt&) const override { return waits; }
  void let_in(TimePoint, const Attempt&) override {}
  void take_answer(TimePoint, const Attempt&, const Answer&) override {}
  void lose_connection(TimePoint, const Attempt&, NoAnswer) override {}
  void lose_idle_connections() override {}
  bool lose_longest_idle_connection() override { return false; }
  void expect(const Attempt&) const override {}
};

TEST(Simulation, CancelsWhenItWakesWhatItsClientsLeftWhileItWasFrozen) {
  // All hang up while it is frozen. Until it wakes they are in it: a frozen server ends nothing.
  Hearer caller;
  const ServiceOptions options{
      .base_delay = 1s, .limit = 100, .max_connections = 100, .abandoned = Abandoned::kCancel};
  ServerNode server(options, 0, 4, 2s, caller);
  for (std::uint32_t i = 0; i < 100; ++i) server.connect(TimePoint{}, {i, 1});
  server.freeze();
  for (std::uint32_t i = 0; i < 100; ++i) server.hang_up(TimePoint{} + 900ms, {i, 1});
  caller.waits = false;
  EXPECT_EQ(server.take_interval(TimePoint{} + 900ms).concurrency, 100);
  server.wake(TimePoint{} + 10s);
  const ServerInterval woken = server.take_interval(TimePoint{} + 10s);
  EXPECT_EQ(woken.concurrency, 0);
  EXPECT_EQ(woken.counts.completed, 0);
  EXPECT_EQ(server.next_event(), TimePoint::max());
}

TEST(Simulation, TellsHowManyRequestsInTheServiceAreStillWaitedFor) {
  // An attempt takes 9 s, and the client sends one every 2.1 s, because it waits for 2 s only. At
  // 60 s there are those sent at 52.5 s, 54.6 s, 56.7 s and 58.8 s. It waits for the last one.
  for (const auto& [abandoned, there] : {std::pair("serve\n", 4u), {"cancel\n", 1u}}) {
    const Watched run(
        "strategy = fixed\nclients = 1\nlambda = 0s\ntimeout = 2s\nbase-delay = 9s\n" +
        calm("60s") + "abandoned = " + abandoned);
    EXPECT_EQ(run.service.back().waited_for, 1u);
    EXPECT_EQ(run.service.back().concurrency, there);
  }
}

class Slots : public ::testing::TestWithParam<const char*> {};

// Open arrivals: a request's slot is used again by a later one while the server still has the
// attempt that was given up. The later one must not be answered in its place.
TEST_P(Slots, OfRequestsThatHaveEndedAreUsedAgainWithoutAMixUp) {
  // From 13 on those in the service are too slow, and more than 14 are not let in.
  const Watched run(
      "arrivals = open\nrate = 100\ntimeout = 150ms\nmax-retries = 1\nbackoff-base = 50ms\n"
      "limit = 10\ncurve-factor = 2\nk = 4\nshed-above = 14\nabandoned = " +
      std::string(GetParam()) + '\n');
  const SimulationResult& result = run.result;
  const Counts& counts = result.summary.counts;
  EXPECT_GT(counts.gave_up(), 1000);
  EXPECT_GT(counts.ok, 300);
  // No answer comes before the service can have given it, none after its timeout, and none twice:
  // each attempt that was sent has ended once, but for those under way.
  EXPECT_GE(result.summary.latencies.attempts().quantile(0.001).value(), 95ms);
  EXPECT_LE(result.summary.latencies.attempts().max(), 150ms);
  EXPECT_LE(counts.finished(), counts.attempts);
  EXPECT_LE(counts.attempts - counts.finished(), 100);
  // The server says OK as often as the clients hear it, but for its last second.
  EXPECT_LE(run.counts.served, counts.ok);
  EXPECT_LE(counts.ok - run.counts.served, 200);
  EXPECT_LE(run.counts.completed, run.counts.admitted);
  if (GetParam() == std::string("cancel")) {
    EXPECT_EQ(run.counts.completed, run.counts.served);
  } else {
    EXPECT_GT(run.counts.completed, run.counts.served);
  }
}

INSTANTIATE_TEST_SUITE_P(Abandoned, Slots, ::testing::Values("serve", "skip", "cancel"));

TEST(Simulation, LimitsItsConnections) {
  EXPECT_EQ(run("strategy = fixed\nmax-connections = 2000\n").peak_concurrency, 2000u);
}

TEST(Simulation, RefusesLikeTheServer) {
  const std::string fixed = "strategy = fixed\n" + calm("100s"), rate = "rate-limit = 50\n";
  const Counts limited = counts_of(fixed + rate);
  EXPECT_NEAR(static_cast<double>(limited.ok), 50 * 100, 60);
  EXPECT_GT(limited.errors, 0u);

  // A plain 400 would be permanent. DynamoDB's says that it is throttling.
  const Counts named = counts_of(fixed + rate + "throttle-status = 400\n");
  EXPECT_EQ(named.gave_up(), 0u);
  EXPECT_EQ(named.ok, limited.ok);

  const SimulationResult shed = run(fixed + "shed-above = 5\n");
  EXPECT_EQ(shed.peak_concurrency, 5u);
  EXPECT_GT(shed.summary.counts.errors, 0u);
}

// --- Outcomes -------------------------------------------------------------------------------

// The throughput stays lower for a while, because pauses get shorter slowly.
TEST(Simulation, ResponsiveClientsHaveNoErrorsSoonAfterTheOutage) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_LE(run("strategy = responsive\n", seed).summary.recovery.errors_gone.value_or(1h), 10s);
  }
}

TEST(Simulation, BehavesTheSameAtEveryScale) {
  for (const std::string strategy : {"strategy = fixed\n", "strategy = exponential\n"}) {
    const Recovery small = run(strategy).summary.recovery;
    const SimulationResult large = run(strategy + "scale = 20\n");
    EXPECT_EQ(large.summary.clients, 20'000u);
    EXPECT_EQ(large.summary.recovery.verdict, small.verdict);
    EXPECT_NEAR(*large.summary.recovery.baseline_ok, 20 * 99.0, 20 * 2);
  }
}

TEST(Simulation, OnlyPutsWorkOffWhenArrivalsAreOpen) {
  const Counts counts = counts_of("strategy = exponential\narrivals = open\nrate = 99\n");
  // In the closed system some 1980 requests of the outage are never sent. Here all are sent.
  EXPECT_NEAR(static_cast<double>(counts.requests), 99 * 110, 5 * std::sqrt(99 * 110));
}

// Connections are reset when the outage begins, and refused during it. Requests of that time have failed.
TEST(Simulation, ReportsWhatHappenedInEachPhase) {
  // Too short a time before the outage to leave out a part of it.
  const Summary summary = run("strategy = none\noutage = drop\noutage-at = 9s\noutage-for = 20s\n"
                              "observe = 30s\n")
                              .summary;
  ASSERT_TRUE(summary.phases);
  const auto& [before, during, after] = *summary.phases;
  EXPECT_EQ(before.length, 9s);
  EXPECT_EQ(during.length, 20s);
  EXPECT_EQ(after.length, 30s);
  const std::uint64_t young = summary.latencies.requests().so_far.count() - after.unfinished;
  EXPECT_EQ(before.requests() + during.requests() + after.requests() + young,
            summary.counts.requests);
  EXPECT_EQ(before.counts.attempts + during.counts.attempts + after.counts.attempts,
            summary.counts.attempts);
  EXPECT_EQ(before.ok + during.ok + after.ok, summary.counts.ok);
  EXPECT_EQ(before.gave_up + during.gave_up + after.gave_up, summary.counts.gave_up());
  EXPECT_EQ(before.unfinished + during.unfinished, 0u);
  EXPECT_EQ(during.success_share(), 0);
  EXPECT_EQ(during.counts.ok, 0u);
  // The requests that were reset began before it.
  const std::size_t refused = error_kind(not_connected(0s, NoAnswer::kRefused));
  const std::size_t reset = error_kind(not_connected(0s, NoAnswer::kReset));
  EXPECT_EQ(during.counts.errors_by[refused], during.gave_up);
  EXPECT_EQ(during.counts.errors_by[reset], before.gave_up);
  EXPECT_EQ(during.counts.errors, during.gave_up + before.gave_up);
  EXPECT_EQ(after.gave_up, 0u);
}

// --- Reproducible ---------------------------------------------------------------------------

TEST(Simulation, EndsEarlyWithTheResultsSoFar) {
  SimulatorOptions options;
  options.observe = std::chrono::hours(10);
  Simulation simulation(scenario_of(options), {});
  const SimulationResult result = simulation.run([] { return true; });
  EXPECT_LT(result.summary.elapsed, std::chrono::hours(1));
  EXPECT_GT(result.summary.counts.ok, 0u);
}

// A service that is well has some ten requests in it at any moment, also at the end. None of them has failed.
TEST(Simulation, CountsNoRequestAsFailedThatHasJustBegun) {
  for (const std::string arrivals : {"open", "closed"}) {
    const Summary summary =
        run("strategy = none\noutage-for = 1s\nobserve = 60s\narrivals = " + arrivals + '\n')
            .summary;
    EXPECT_EQ(summary.phases->at(2).success_share(), 1);
    EXPECT_GT(summary.latencies.requests().so_far.count(), 0);
    EXPECT_EQ(summary.counts.success_share(), 1);
  }
}

// Nobody is answered after 1 s of calm, so what is under way at the end has failed, but for the last 100 ms.
TEST(Simulation, CountsOldRequestsAsFailed) {
  const auto during = run("strategy = fixed\narrivals = open\noutage = freeze\noutage-for = 30s\n"
                          "observe = 1ms\n")
                          .summary.phases->at(1);
  EXPECT_EQ(during.success_share(), 0);
  EXPECT_NEAR(static_cast<double>(during.unfinished), 100 * 29.9, 4 * std::sqrt(100 * 29.9));
}

// Of 0.1^5 of the requests all five attempts fail. Some are being retried when the run ends: these have not failed.
TEST(Simulation, CountsNoRequestAsFailedThatIsRetriedForAShortTime) {
  const std::string settings =
      "strategy = exponential\narrivals = open\nrate = 400\nmax-retries = 4\n"
      "service = workers\nworkers = 64\nerror-share = 0.1\noutage-for = 0s\nobserve = 60s\n";
  double succeed = 0;
  constexpr int kRuns = 10;
  for (int seed = 0; seed < kRuns; ++seed) {
    succeed +=
        run(settings, static_cast<std::uint64_t>(seed)).summary.counts.success_share() / kRuns;
  }
  const double failed = 1e-5, requests = kRuns * 60 * 400;
  EXPECT_NEAR(succeed, 1 - failed, 4 * std::sqrt(failed / requests));
}

}  // namespace
}  // namespace retrystorm
