// A service of several hosts behind pickers.
#include "simulator/hosts.h"

#include "simulator/scenario_options.h"
#include "simulator/simulation.h"
#include "tests/support/refusal.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// Collects what is said about hosts.
struct HostsSeen final : RunObserver {
  void on_hosts(Duration t, const HostIntervals& hosts) override {
    times.push_back(t);
    intervals.push_back(hosts);
  }
  std::vector<Duration> times;
  std::vector<HostIntervals> intervals;
};

Summary hosts_run(const std::string& settings, std::uint64_t seed = 1, HostsSeen* seen = nullptr) {
  SimulationObservers observers;
  if (seen != nullptr) observers.run.push_back(seen);
  return Simulation(make_scenario(options_from(settings), seed), observers).run().summary;
}

const std::string kHosts =
    "arrivals = open\nservice = workers\nworkers = 15\nservice-time = 50ms\nreplicas = 3\n";

// Two hosts call three.
const std::string kChain =
    "chain = api 2*20x5ms > db 3*15x50ms\narrivals = open\nrate = 300\nstrategy = none\ntimeout = 1s\n"
    "outage-at = 10s\noutage-for = 20s\nobserve = 0s\n";

// Two hosts in turn, one of which fails at once. Of a hundred requests at once half fail, and of their retries, at once
// too, half again (Spring Cloud Gateway's issues 1371 and 3045).
TEST(Hosts, RetriesInTurnFailAgainWhereManyComeAtOnce) {
  const Summary summary = hosts_run(
      "arrivals = burst:100\nservice = workers\nworkers = 100\nreplicas = 2\nstrategy = fixed\nfixed-delay = 10ms\n"
      "max-attempts = 2\noutage = errors:1\noutage-replicas = 1\noutage-at = 0s\noutage-for = 10s\nobserve = 0s\n");
  EXPECT_EQ(summary.counts.errors, 50 + 25);
  EXPECT_EQ(summary.counts.gave_up(), 25);
}

// Where requests come one at a time, the retry goes to the other host.
TEST(Hosts, RetriesInTurnSucceedWhereOneComesAtATime) {
  const Summary summary = hosts_run(
      "clients = 1\nlambda = 0s\nservice = workers\nworkers = 1\nservice-time = 10ms\nreplicas = 2\nstrategy = fixed\n"
      "fixed-delay = 1ms\nmax-attempts = 2\noutage = errors:1\noutage-replicas = 1\noutage-at = 0s\n"
      "outage-for = 10s\nobserve = 0s\n");
  EXPECT_GT(summary.counts.errors, 100);
  EXPECT_EQ(summary.counts.gave_up(), 0);
}

// Four hosts of 133/s by turns, 400/s. A host whose answers all come too late gets 100 (1 + 1/4 + 1/16) = 131/s, so
// that its queue of the freeze hardly shrinks; the others answer what it does not.
TEST(Hosts, AreNamedThatDoNotComeBack) {
  const std::string four =
      "arrivals = open\nservice = workers\nworkers = 12\nservice-time = 90ms\nreplicas = 4\nrate = 400\n"
      "timeout = 800ms\nstrategy = fixed\nfixed-delay = 100ms\nmax-attempts = 3\noutage-at = 30s\n"
      "outage-for = 12s\nobserve = 60s\noutage-replicas = ";
  const Summary summary = hosts_run(four + "1\n");
  EXPECT_EQ(summary.recovery.verdict, Verdict::kRecovered);
  const auto [numbers, share] = summary.hosts->not_back();
  EXPECT_THAT(numbers, ElementsAre(1u));
  EXPECT_LT(share, 0.1);
  EXPECT_THAT(hosts_run(four + "1\nabandoned = skip\n").hosts->not_back().first, IsEmpty());
}

// Each host does 300/s. The others of three have room for 600/s: with less they hold, with more their queues grow for as
// long as one is away. So they do behind a service that calls them.
TEST(Hosts, SurvivorsFallIfTheirShareIsTooLarge) {
  const std::string outage =
      "strategy = none\noutage = freeze\noutage-replicas = 1\noutage-at = 10s\noutage-for = 120s\nobserve = 0s\n"
      "eject = 1:1h:0.34\nbalance = least\ntimeout = 1s\n";
  for (const std::string& hosts : {kHosts, kChain}) {
    for (const auto& [rate, holds] : {std::pair{"560", true}, std::pair{"640", false}}) {
      const Summary summary = hosts_run(hosts + outage + "rate = " + rate + "\n");
      const auto during = (*summary.phases)[1];
      const double ok = rates(during.counts, during.length).ok;
      if (holds) {
        EXPECT_NEAR(ok, 560, 15) << hosts;
      } else {
        EXPECT_LT(ok, 320) << hosts;  // mostly answers that nobody waits for any more
      }
    }
  }
}

// One of three hosts answers errors at once. What has the fewest under way gets all, and two thirds of a good service
// are of no use to anybody.
TEST(Hosts, TheEmptiestHostMayBeTheBrokenOne) {
  const std::string outage =
      "rate = 600\nstrategy = none\noutage = errors:1\noutage-replicas = 1\noutage-at = 10s\noutage-for = 60s\n"
      "observe = 10s\n";
  const Summary least = hosts_run(kHosts + outage + "balance = least\n");
  const Summary turns = hosts_run(kHosts + outage + "balance = round-robin\n");
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
  const Summary clients = hosts_run(kHosts + outage + "picker = client\n");
  EXPECT_EQ(clients.counts.errors, 500);
  EXPECT_EQ(clients.hosts->hosts[0].ejections, 100);
  EXPECT_EQ(clients.hosts->hosts[0].out, 1);
  const Summary proxy = hosts_run(kHosts + outage);
  EXPECT_EQ(proxy.counts.errors, 5);
  EXPECT_EQ(proxy.hosts->hosts[0].ejections, 1);
}

TEST(Hosts, EachRefusesWhenItIsDownAndOthersGoOn) {
  const Summary summary = hosts_run(
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
  const Summary summary = hosts_run(
      kHosts +
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
  EXPECT_EQ(hosts_run(settings + "retry-host = other\n").counts.gave_up(), 0);
  EXPECT_GT(hosts_run(settings).counts.gave_up(), 400);  // about a quarter of 3,000
}

// Hosts that do 1,000/s each, of which all requests wait for as long as it takes.
std::string patient(const std::string& rate, const std::string& more) {
  return "arrivals = open\nrate = " + rate +
         "\nservice = workers\nworkers = 100\nservice-time = fixed:100ms\nbacklog = 1000000\nreplicas = 3\n"
         "host-start = 60s\nstrategy = none\ntimeout = none\noutage-for = 0s\noutage-at = 60s\n" +
         more;
}

// A balancer of connections: of three hosts one restarts. The clients that it loses go to the others, which then have half
// of the load each, for as long as their connections live.
TEST(Hosts, KeepTheirConnectionsIfEachIsPicked) {
  const std::string clients =
      "clients = 600\nclients-per-process = 1\nlambda = 1s\nconnections = keep-alive\nstrategy = none\n"
      "pick-per = connection\nhost-start = 10s\nat = 20s restart host 1\noutage-for = 0s\n";
  for (const std::string how : {"balance = round-robin\n", "balance = least\n"}) {
    HostsSeen seen;
    hosts_run(kHosts.substr(kHosts.find("service")) + clients + how + "observe = 40s\n", 1, &seen);
    const auto attempts = [&](std::size_t interval, std::size_t host) {
      return static_cast<double>(seen.intervals.at(interval)[host].attempts);
    };
    EXPECT_NEAR(attempts(2, 0), attempts(2, 1),
                150);  // 190 clients of a third, 5 s, 1/s: 3.5 sigma
    EXPECT_EQ(seen.intervals.back()[0].attempts, 0u) << how;
    EXPECT_NEAR(attempts(7, 1), attempts(7, 2), 200);
    EXPECT_NEAR(attempts(7, 1) + attempts(7, 2), attempts(2, 0) + attempts(2, 1) + attempts(2, 2),
                300);
  }
}

// Connections of at most 5 s are all new ones 15 s after the host is back: it has its third.
TEST(Hosts, GetTheirShareBackIfConnectionsAreRenewed) {
  for (const std::string kind :
       {"keep-alive\nclients-per-process = 1", "multiplexed\nprocesses = 300"}) {
    HostsSeen seen;
    hosts_run(
        kHosts.substr(kHosts.find("service")) +
            "clients = 600\nlambda = 1s\nstrategy = none\npick-per = connection\n"
            "connection-age = 5s\nhost-start = 10s\nat = 20s restart host 1\noutage-for = 0s\n"
            "observe = 60s\nconnections = " +
            kind + "\n",
        1, &seen);
    double all = 0, first = 0;
    for (std::size_t i = 9; i < 12; ++i) {
      for (const HostInterval& each : seen.intervals.at(i))
        all += static_cast<double>(each.attempts);
      first += static_cast<double>(seen.intervals[i][0].attempts);
    }
    EXPECT_NEAR(first / all, 1. / 3, 0.02) << kind;
  }
}

// One of three hosts is gone for a minute, and they are used to 90 %. A probe that waits in the queue takes for dead what
// is only slow, and so on, for ever; one on a port of its own does not.
TEST(Hosts, AreKilledByProbesThatWaitInTheQueue) {
  HostsSeen seen;
  const Summary summary = hosts_run(
      patient("2700",
              "observe = 1200s\nat = 60s restart host 1\nprobe = 30s:1s:3\nprobe-does = restart\n"
              "balance = least\n"),
      1, &seen);
  for (const HostInterval& each : summary.hosts->hosts) EXPECT_GT(each.killed, 3);
  // The wait is longer than a second from 3 s on (0.35 m a second), and the third probe fails 61 to 91 s later.
  Duration first{0};
  for (std::size_t i = 0; i < seen.times.size() && first == 0s; ++i) {
    if (seen.intervals[i][1].killed + seen.intervals[i][2].killed > 0) first = seen.times[i];
  }
  EXPECT_GE(first, 60s + 64s);
  EXPECT_LE(first, 60s + 94s + 5s);
  const Summary apart =
      hosts_run(patient("2700",
                        "observe = 400s\nat = 60s restart host 1\nprobe = 30s:1s:3:port\n"
                        "probe-does = restart\nbalance = least\n"));
  EXPECT_EQ(apart.hosts->sum(&HostInterval::killed), 0);
  EXPECT_EQ(apart.hosts->hosts[0].restarts, 1);
}

// Restarts of hosts are what the run is about, if no outage is given. All at once may be a remedy.
TEST(Hosts, ActionsAreTheOutageIfNoneIsGiven) {
  using Kind = Disturbance::Kind;
  struct Case {
    const char* settings;
    Kind kind;
    Duration at, length;
  };
  for (const Case& each :
       {Case{"host-start = 10s\nat = 40s rolling-restart\n", Kind::kRestart, 40s, 30s},
        Case{"at = 40s restart host 2; 50s restart host 3\n", Kind::kRestart, 40s, 11s},
        Case{"at = 40s restart host 2\noutage-for = 0s\n", Kind::kRestart, 40s, 1s},
        Case{"at = 40s restart\noutage-for = 0s\n", Kind::kRestart, 40s, 1s},
        Case{"at = 40s restart\n", Kind::kFreeze, 30s, 20s},
        Case{"at = 40s restart host 2\noutage-for = 5s\n", Kind::kFreeze, 30s, 5s},
        Case{"at = 40s restart host 2\noutage-replicas = 1\n", Kind::kFreeze, 30s, 20s},
        Case{"at = 40s restart host 2\noutage = slow:2\n", Kind::kSlow, 30s, 20s},
        // So is more load, which is over or lasts to the end.
        Case{"at = 40s load 2; 50s load 3; 100s load 1\n", Kind::kLoadStep, 40s, 60s},
        Case{"at = 40s load 3\noutage-for = 0s\n", Kind::kLoadStep, 40s, kRise},
        Case{"at = 40s load 0.5\n", Kind::kFreeze, 30s, 20s},
        Case{"at = 40s load 3\noutage-for = 5s\n", Kind::kFreeze, 30s, 5s},
        Case{"at = 40s load 3\noutage-replicas = 1\n", Kind::kFreeze, 30s, 20s}}) {
    const auto outage = options_from(kHosts + each.settings).outage();
    EXPECT_EQ(outage.what.kind, each.kind) << each.settings;
    EXPECT_EQ(outage.at, each.at) << each.settings;
    EXPECT_EQ(outage.length, each.length) << each.settings;
  }
  const Summary summary =
      hosts_run(kHosts + "rate = 300\nhost-start = 10s\nat = 30s rolling-restart\n");
  EXPECT_EQ(summary.recovery.verdict, Verdict::kRecovered);
  EXPECT_EQ(summary.outage, "restart");
}

// What just started is slow at first: half of a host's capacity on the average.
TEST(Hosts, WarmUp) {
  HostsSeen seen;
  hosts_run(
      patient("3500", "observe = 130s\nat = 60s restart\nhost-warm-up = 60s\nbalance = least\n"), 1,
      &seen);
  double ok = 0;
  for (std::size_t i = 120 / 5; i < 180 / 5; ++i) {
    for (const HostInterval& each : seen.intervals[i]) ok += static_cast<double>(each.ok);
  }
  EXPECT_NEAR(ok, 3'000 * 60 * .5, 3'000 * 60 * .02);
}

std::size_t hosts_up(const HostIntervals& hosts) {
  return static_cast<std::size_t>(std::ranges::count(hosts, HostState::kUp, &HostInterval::state));
}

// Six times the load that four hosts do at half of their capacity. What waits keeps all of them busy, so that there are
// more hosts than are needed in the end.
TEST(Hosts, FollowTheirUse) {
  const std::string settings =
      "arrivals = open\nrate = 400\nservice = workers\nworkers = 10\nservice-time = fixed:50ms\nreplicas = 4..40\n"
      "strategy = none\ntimeout = none\noutage-for = 0s\noutage-at = 30s\nobserve = 100s\nat = 30.5s load 6\n"
      "balance = least\n";
  HostsSeen seen;
  const Summary queue = hosts_run(settings + "backlog = 1000000\n", 1, &seen);
  EXPECT_EQ(queue.hosts->first, 4);
  std::vector<std::size_t> up;
  for (const HostIntervals& each : seen.intervals) up.push_back(hosts_up(each));
  EXPECT_THAT((std::vector{up[5], up[9], up[12], up[15]}),
              ElementsAre(4, 8, 16, 32));  // at 30, 50, 65, 80 s
  const Summary none = hosts_run(settings + "queue-length = 0\n");
  EXPECT_NEAR(static_cast<double>(none.hosts->most), 24, 1);
}

// Four hosts are used to 80 %, and half is wanted: 6.4, so seven. The three that start take their part at once, but what
// was measured while they started says nothing of them.
TEST(Hosts, AreNotAddedForWhatNewOnesTake) {
  const Summary summary = hosts_run(
      "arrivals = open\nrate = 640\nservice = workers\nworkers = 10\nservice-time = fixed:50ms\nreplicas = 4..40\n"
      "host-start = 70s\nstrategy = none\ntimeout = none\noutage-for = 0s\nobserve = 5m\nbalance = least\n");
  EXPECT_EQ(summary.hosts->most, 7);
}

// Nothing is lost of what a host has when it is to end, and it goes when it has nothing left.
TEST(Hosts, EndWhereFewerAreEnough) {
  HostsSeen seen;
  const Summary summary = hosts_run(
      "arrivals = open\nrate = 800\nservice = workers\nworkers = 10\nservice-time = 50ms\nreplicas = 2..20\n"
      "replicas-down-after = 30s\nstrategy = none\ntimeout = none\noutage-for = 0s\noutage-at = 100s\n"
      "at = 100s load 0.25\nobserve = 100s\nbalance = two\n",
      1, &seen);
  EXPECT_EQ(summary.counts.failures(), 0);
  EXPECT_GE(summary.hosts->most, 8);
  EXPECT_EQ(hosts_up(seen.intervals.back()), 2);
}

// A frozen host is found by its probe: it gets no traffic, or is killed, and there is another one at once.
TEST(Hosts, AreFoundByTheirProbes) {
  const std::string settings =
      kHosts +
      "rate = 300\nstrategy = none\ntimeout = 1s\noutage = freeze\noutage-replicas = 1\noutage-at = 60s\n"
      "outage-for = 60s\nobserve = 30s\nprobe = 2s:1s:3\n";
  // The third one fails 5 to 7 s after the beginning. A third of the requests goes there until then.
  const Summary away = hosts_run(settings);
  EXPECT_NEAR(static_cast<double>(away.counts.timed_out), 600, 140);
  EXPECT_EQ(away.hosts->hosts[0].restarts, 0);
  const Summary killed = hosts_run(settings + "probe-does = restart\n");
  EXPECT_NEAR(static_cast<double>(killed.counts.failures()), 600, 140);
  EXPECT_EQ(killed.hosts->hosts[0].killed, 1);
}

// A probe may wait for as long as its period.
TEST(Hosts, AreWellWhileTheirProbesAreAnswered) {
  const Summary summary =
      hosts_run(kHosts +
                "rate = 300\nstrategy = none\noutage-for = 0s\noutage-at = 30s\nobserve = 0s\n"
                "probe = 1s:1s:1\n");
  EXPECT_EQ(summary.counts.errors, 0);
  for (const HostInterval& each : summary.hosts->hosts) EXPECT_EQ(each.state, HostState::kUp);
}

// A service of one host has a life, too.
TEST(Hosts, MayBeOne) {
  const Summary summary = hosts_run(
      "arrivals = open\nrate = 100\nservice = workers\nworkers = 10\nservice-time = 50ms\nstrategy = none\n"
      "host-start = 30s\noutage-for = 0s\noutage-at = 60s\nobserve = 60s\nat = 60s restart\n");
  EXPECT_NEAR(static_cast<double>(summary.counts.errors), 3'000,
              165);  // refused by nobody: there is no host
}

TEST(Hosts, RefuseWhatCannotBe) {
  test::expect_refusals(
      [](const std::string& text) { make_scenario(options_from(text), 1); },
      {{"replicas = 3\noutage-replicas = 4\n", "there are 3"},
       {"replicas = 4..3\nservice = workers\n", "the second number is the larger one"},
       {"replicas = 4..30\nservice = curve\n", "the use of workers"},
       {"replicas = 100001\n", "100000"},
       {"probe = 10s:11s\n", "must not be longer than its period"},
       {"replicas = 3\nat = 60s restart host 4\n", "there are 3 hosts"},
       {"replicas = 3\nat = 60s restart 4 hosts\n", "there are 3 hosts"},
       {"replicas = 3\nat = 60s restart now\n", "restart 2 hosts"},
       {"replicas = 3\noutage = reconnect\n", "--outage=reconnect"}});
  EXPECT_THAT(text_of(unused_options(options_from("balance = least\neject = 5\n"))),
              HasSubstr("balance has no effect without --replicas"));
}

// A service of a chain has hosts as one alone has: the first of all draws the same numbers.
TEST(HostsOfAChain, OfOneServiceAreThoseOfAServiceAlone) {
  const std::string both =
      "arrivals = open\nrate = 500\nstrategy = fixed\nmax-attempts = 3\nbalance = least\neject = 3:5s:0.5\n"
      "outage = freeze\noutage-replicas = 1\noutage-at = 10s\noutage-for = 10s\nobserve = 20s\n";
  const Summary alone = hosts_run(kHosts + both);
  const Summary chain = hosts_run("chain = db 3*15x50ms\n" + both);
  const auto counted = [](const Counts& counts) {
    return std::vector{counts.requests, counts.attempts, counts.ok, counts.errors,
                       counts.timed_out};
  };
  EXPECT_EQ(counted(chain.counts), counted(alone.counts));
  EXPECT_EQ(chain.hosts->share_of_hit(), alone.hosts->share_of_hit());
  EXPECT_EQ(chain.hosts->hosts[0].ejections, alone.hosts->hosts[0].ejections);
}

// One of three hosts behind answers errors at once. In turn a third of the calls fail, and where those who call try
// another host none.
TEST(HostsOfAChain, RetriesOfCallsGoToAnotherHost) {
  const std::string outage = "outage = errors:1\noutage-replicas = 1\n";
  const Summary none = hosts_run(kChain + outage);
  EXPECT_NEAR(*(*none.phases)[1].success_share(), 2. / 3, 0.005);
  EXPECT_NEAR(*none.hosts->share_of_hit(), 1. / 3, 0.005);
  const Summary other = hosts_run(
      kChain + outage + "strategy = fixed\nmax-attempts = 2\nretry-at = api\nretry-host = other\n");
  EXPECT_EQ(other.counts.gave_up(), 0);
}

// A host that calls is a process: its picker needs five failures of its own.
TEST(HostsOfAChain, EachThatCallsFindsOutByItself) {
  const std::string outage =
      "outage = errors:1\noutage-replicas = 1\neject = 5:30s:0.34\nrate = 30\nchain = api 2*20x5ms > db 3*15x1ms\n";
  EXPECT_EQ(hosts_run(kChain + outage).counts.errors, 5);
  const Summary clients = hosts_run(kChain + outage + "picker = client\n");
  EXPECT_EQ(clients.counts.errors, 2 * 5);
  EXPECT_EQ(clients.hosts->hosts[0].ejections, 2);
}

// That those who are left are too few is said before the run, also of those that restart one after the other.
TEST(HostsOfAChain, AreSaidToBeTooFewBeforeTheRun) {
  const auto left = [](const std::string& settings) {
    const auto rows = look_ahead_at_all(options_from(kChain + settings));
    const Statements& all = rows.front().outlook.warnings;
    return std::any_of(all.begin(), all.end(),
                       [](const auto& each) { return each.id == "service-hosts-left"; });
  };
  const std::string freeze = "outage = freeze\noutage-replicas = 1\n";
  const std::string roll = "outage-for = 0s\nhost-start = 5s\nat = 10s db rolling-restart\n";
  const std::string of_api = "outage-for = 0s\nhost-start = 5s\nat = 10s api rolling-restart\n";
  EXPECT_TRUE(left(freeze + "rate = 610\n"));
  EXPECT_FALSE(left(freeze + "rate = 590\n"));
  EXPECT_TRUE(left(roll + "rate = 610\n"));
  EXPECT_FALSE(left(roll + "rate = 590\n"));
  EXPECT_FALSE(left(of_api + "rate = 610\n"));
}

// A restart of one host that calls loses what that one has under way, and nothing of the other: each has 300 / 2 x 55 ms.
TEST(HostsOfAChain, ARestartLosesTheCallsOfOneHost) {
  double lost = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Summary summary =
        hosts_run(kChain + "outage-for = 0s\nat = 10s api restart host 1\nobserve = 5s\n", seed);
    lost += static_cast<double>(summary.counts.errors) / 50;
  }
  EXPECT_NEAR(lost, 8.25, 1.3);  // a Poisson number: three standard deviations of the mean of 50
}

// Each host in turn gives what waits to the others, and finishes what it serves.
TEST(HostsOfAChain, ARollingRestartLosesNothing) {
  for (const char* waiting : {"hold", "free"}) {
    const Summary summary = hosts_run(
        kChain +
        "rate = 150\noutage-for = 0s\nhost-start = 5s\nat = 10s db rolling-restart; 40s api rolling-restart\n"
        "observe = 60s\nwaiting = " +
        waiting + "\n");
    EXPECT_EQ(summary.counts.failures(), 0) << waiting;
    EXPECT_EQ(summary.hosts->sum(&HostInterval::restarts), 3) << waiting;
  }
}

// Those who call keep connections to each host apart.
TEST(HostsOfAChain, KeepConnectionsToEachHost) {
  for (const char* kind : {"keep-alive", "multiplexed"}) {
    const Summary summary =
        hosts_run(kChain + "chain = api 2*40x5ms >300ms db 3*15x50ms\nconnections = " + kind +
                  "\noutage = freeze\noutage-replicas = 1\nstrategy = fixed\n"
                  "max-attempts = 2\nretry-at = api\nretry-host = other\n");
    EXPECT_EQ(summary.counts.gave_up(), 0) << kind;
    EXPECT_GT(summary.hosts->hosts[1].attempts_in_outage, 20 * 100) << kind;
  }
}

// A section has its own, and otherwise those of the command line.
TEST(HostsOfAChain, MayBeSetInASection) {
  const std::string api =
      "[api]\nworkers = 20\nservice-time = 5ms\ncalls = db\n[db]\nworkers = 15\n";
  const Topology topology = TopologyFile("", api + "replicas = 3\nbalance = least\n")
                                .topology({.hosts = {.replicas = 2}}, {}, {});
  EXPECT_EQ(topology.nodes[0].hosts.replicas, 2);
  EXPECT_EQ(topology.nodes[1].hosts.replicas, 3);
  EXPECT_EQ(topology.nodes[0].hosts.balance, Balance::kRoundRobin);
  EXPECT_EQ(topology.nodes[1].hosts.balance, Balance::kLeast);
  test::expect_refusals([&](const std::string& line) { TopologyFile("", api + line); },
                        {{"balance = least\n", "balance"},
                         {"outage-replicas = 1\n", "outage-replicas"},
                         {"replicas = 0\n", "replicas"}});
}

TEST(HostsOfAChain, AreRefusedIfTheyCannotBe) {
  test::expect_refusals(
      [](const std::string& settings) { make_scenario(options_from(settings), 1); },
      {{"chain = api 20x5ms > db 257*8x40ms\n", "256"},
       {"chain = api 129*20x5ms > db 128*8x40ms\n", "at most 256 hosts"},
       {"chain = api 20x5ms > db *8x40ms\n", "db *8x40ms"},
       {"chain = api 4*20x5ms > db 3*8x40ms\noutage-replicas = 4\n", "there are 3"},
       {"chain = api 4*20x5ms > db 3*8x40ms\nat = 60s restart host 4\n", "there are 3 hosts"},
       {"chain = api 4*20x5ms > db 3*8x40ms\nat = 60s api restart host 4\n", ""}});
}

}  // namespace
}  // namespace retrystorm
