// A service of several hosts behind pickers.
#include "simulator/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "simulator/scenario_options.h"
#include "simulator/simulation.h"
#include "tests/support/refusal.h"
#include "tests/support/scenario_settings.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Collects what is said about hosts.
struct HostsSeen final : RunObserver {
  void on_hosts(Duration t, const HostIntervals& hosts) override {
    times.push_back(t);
    intervals.push_back(hosts);
  }
  std::vector<Duration> times;
  std::vector<HostIntervals> intervals;
};

Summary run(const std::string& settings, std::uint64_t seed = 1, HostsSeen* seen = nullptr) {
  SimulationObservers observers;
  if (seen != nullptr) observers.run.push_back(seen);
  return Simulation(make_scenario(options_from(settings), seed), observers).run().summary;
}

const std::string kHosts =
    "arrivals = open\nservice = workers\nworkers = 15\nservice-time = 50ms\nreplicas = 3\n";

// Two hosts in turn, one of which fails at once. Of a hundred requests at once half fail, and of their retries, at once
// too, half again (Spring Cloud Gateway's issues 1371 and 3045).
TEST(Hosts, RetriesInTurnFailAgainWhereManyComeAtOnce) {
  const Summary summary = run(
      "arrivals = burst:100\nservice = workers\nworkers = 100\nreplicas = 2\nstrategy = fixed\nfixed-delay = 10ms\n"
      "max-attempts = 2\noutage = errors:1\noutage-replicas = 1\noutage-at = 0s\noutage-for = 10s\nobserve = 0s\n");
  EXPECT_EQ(summary.counts.errors, 50 + 25);
  EXPECT_EQ(summary.counts.gave_up(), 25);
}

// Where requests come one at a time, the retry goes to the other host.
TEST(Hosts, RetriesInTurnSucceedWhereOneComesAtATime) {
  const Summary summary = run(
      "clients = 1\nlambda = 0s\nservice = workers\nworkers = 1\nservice-time = 10ms\nreplicas = 2\nstrategy = fixed\n"
      "fixed-delay = 1ms\nmax-attempts = 2\noutage = errors:1\noutage-replicas = 1\noutage-at = 0s\n"
      "outage-for = 10s\nobserve = 0s\n");
  EXPECT_GT(summary.counts.errors, 100);
  EXPECT_EQ(summary.counts.gave_up(), 0);
}

// Each host does 300/s. The others of three have room for 600/s: with less they hold, with more their queues grow for as
// long as one is away.
TEST(Hosts, SurvivorsFallIfTheirShareIsTooLarge) {
  const std::string outage =
      "strategy = none\noutage = freeze\noutage-replicas = 1\noutage-at = 10s\noutage-for = 120s\nobserve = 0s\n"
      "eject = 1:1h:0.34\nbalance = least\ntimeout = 1s\n";
  for (const auto& [rate, holds] : {std::pair{"560", true}, std::pair{"640", false}}) {
    const Summary summary = run(kHosts + outage + "rate = " + rate + "\n");
    const auto during = (*summary.phases)[1];
    const double ok = rates(during.counts, during.length).ok;
    if (holds) {
      EXPECT_NEAR(ok, 560, 15);
    } else {
      EXPECT_LT(ok, 320);  // mostly answers that nobody waits for any more
    }
  }
}

// One of three hosts answers errors at once. What has the fewest under way gets all, and two thirds of a good service
// are of no use to anybody.
TEST(Hosts, TheEmptiestHostMayBeTheBrokenOne) {
  const std::string outage =
      "rate = 600\nstrategy = none\noutage = errors:1\noutage-replicas = 1\noutage-at = 10s\noutage-for = 60s\n"
      "observe = 10s\n";
  const Summary least = run(kHosts + outage + "balance = least\n");
  const Summary turns = run(kHosts + outage + "balance = round-robin\n");
  EXPECT_GT(least.hosts->share_of_hit(), 0.8);
  EXPECT_NEAR(*turns.hosts->share_of_hit(), 1. / 3, 0.001);
  EXPECT_LT((*least.phases)[1].success_share(), 0.2);
  EXPECT_NEAR(*(*turns.phases)[1].success_share(), 2. / 3, 0.005);
}

// A hundred processes that each must see five failures at one of three hosts, in turn and 10 a second each: the host is
// out everywhere 1.2 to 1.5 s after it began to fail, with 500 failed attempts. One proxy needs five.
TEST(Hosts, EachProcessFindsOutByItself) {
  const std::string outage =
      "rate = 1000\nprocesses = 100\nstrategy = none\noutage = errors:1\noutage-replicas = 1\n"
      "outage-at = 10s\noutage-for = 20s\nobserve = 0s\nworkers = 100\nservice-time = 1ms\neject = 5:30s:0.34\n";
  const Summary clients = run(kHosts + outage + "picker = client\n");
  EXPECT_EQ(clients.counts.errors, 500);
  EXPECT_EQ(clients.hosts->hosts[0].ejections, 100);
  EXPECT_EQ(clients.hosts->hosts[0].out, 1);
  const Summary proxy = run(kHosts + outage);
  EXPECT_EQ(proxy.counts.errors, 5);
  EXPECT_EQ(proxy.hosts->hosts[0].ejections, 1);
}

TEST(Hosts, EachRefusesWhenItIsDownAndOthersGoOn) {
  const Summary summary = run(
      kHosts +
      "rate = 300\nstrategy = fixed\nfixed-delay = 1ms\nmax-attempts = 2\n"
      "balance = random\nretry-host = other\noutage = drop\noutage-replicas = 1\noutage-at = 10s\n"
      "outage-for = 10s\nobserve = 10s\n");
  EXPECT_EQ(summary.counts.gave_up(), 0);
  // A third of what comes in ten seconds, by chance (three standard deviations are 78), and what it had in service.
  EXPECT_NEAR(static_cast<double>(summary.counts.errors), 1000, 85);
}

TEST(Hosts, AreReportedWithTheirStates) {
  HostsSeen seen;
  const Summary summary =
      run(kHosts +
              "rate = 300\nstrategy = none\ntimeout = 1s\noutage = freeze\noutage-replicas = 2\n"
              "outage-at = 12s\noutage-for = 10s\nobserve = 8s\n",
          1, &seen);
  EXPECT_THAT(seen.times, ElementsAre(5s, 10s, 15s, 20s, 25s, 30s));
  const HostIntervals& in_outage = seen.intervals[2];
  EXPECT_TRUE(in_outage[0].frozen);
  EXPECT_TRUE(in_outage[1].frozen);
  EXPECT_FALSE(in_outage[2].frozen);
  std::uint64_t attempts = 0, ok = 0, failed = 0;
  for (const HostIntervals& each : seen.intervals) {
    for (const HostInterval& host : each) {
      attempts += host.attempts;
      ok += host.ok;
      failed += host.failed;
    }
  }
  EXPECT_EQ(attempts, summary.counts.attempts);
  EXPECT_EQ(ok, summary.counts.ok);
  EXPECT_EQ(failed, summary.counts.failures());
}

// A hedge goes to another host than the attempt that it is beside.
TEST(Hosts, HedgesGoToAnotherHost) {
  const std::string settings =
      "arrivals = open\nrate = 50\nservice = workers\nworkers = 100\nservice-time = 10ms\nreplicas = 2\nstrategy = none\n"
      "balance = random\nhedge = 50ms\noutage = freeze\noutage-replicas = 1\noutage-at = 0s\noutage-for = 60s\n"
      "observe = 0s\ntimeout = 2s\n";
  EXPECT_EQ(run(settings + "retry-host = other\n").counts.gave_up(), 0);
  EXPECT_GT(run(settings).counts.gave_up(), 400);  // about a quarter of 3,000
}

// Ten hosts of one worker are ten servers: every sum of them is the service's.
TEST(Hosts, AddUpToTheService) {
  HostsSeen seen;
  const Summary summary = run(
      "arrivals = open\nrate = 80\nservice = workers\nworkers = 1\nservice-time = fixed:100ms\nreplicas = 10\n"
      "strategy = none\noutage-at = 10s\noutage-for = 0s\nobserve = 10s\nbalance = least\n",
      1, &seen);
  EXPECT_EQ(summary.counts.failures(), 0);
  std::size_t busy = 0;
  for (const HostInterval& each : seen.intervals.back()) {
    EXPECT_LE(each.busy, 1);
    busy += each.busy;
  }
  EXPECT_GT(busy, 3);
}

TEST(Hosts, RefuseWhatCannotBe) {
  test::expect_refusals([](const std::string& text) { make_scenario(options_from(text), 1); },
                        {{"replicas = 3\noutage-replicas = 4\n", "there are 3"},
                         {"replicas = 3\nconnections = keep-alive\n", "kept connections"},
                         {"replicas = 3\noutage = reconnect\n", "--outage=reconnect"}});
  EXPECT_THAT(text_of(unused_options(options_from("balance = least\neject = 5\n"))),
              HasSubstr("balance has no effect without --replicas"));
}

}  // namespace
}  // namespace retrystorm
