// What is said before a run, held to the run.
#include "model/run/outlook.h"

#include "simulator/scenario_options.h"
#include "simulator/simulation.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

Recovery recovery_in(const ScenarioOptions& scenario) {
  return Simulation(make_scenario(scenario, 1), {}).run().summary.recovery;
}

// Attempts a second in an outage in which all fail, as said and as run.
struct Attempts {
  double said_errors = 0, said_timeouts = 0, run = 0;
};

Attempts attempts_in(const std::string& settings, const std::string& outage) {
  const ScenarioOptions scenario =
      options_from("outage-for = 5m\nobserve = 15s\noutage = " + outage + '\n' + settings);
  const Outlook outlook = look_ahead(scenario);
  const auto phases = Simulation(make_scenario(scenario, 1), {}).run().summary.phases;
  const PhaseFigures& during = phases->at(1);
  return {outlook.retries.errors.rate, outlook.retries.timeouts.rate,
          rates(during.counts, during.length).attempts};
}

// Of five minutes, a client may still think for the first ten seconds.
constexpr double kNear = 0.05;

TEST(SimulatedOutlook, CountsTheAttemptsThatFailAtOnce) {
  for (const char* settings :
       {"strategy = grpc\nretry-budget = none\n", "strategy = none\n", "max-attempts = 3\n",
        "strategy = exponential\nmax-attempts = 4\n", "clients = 50\n", "strategy = aws-standard\n",
        "strategy = aws-standard\nlambda = 1s\nclients = 100\n",
        "retry-budget = 10%\nmax-attempts = 3\n", "arrivals = open\nrate = 50\nmax-attempts = 3\n",
        "max-attempts = 3\nhedge = 100ms\nhedge-max = 2\n"}) {
    for (const char* outage : {"errors:1", "drop"}) {
      const Attempts attempts = attempts_in(settings, outage);
      EXPECT_NEAR(attempts.run / attempts.said_errors, 1, kNear) << settings << outage;
    }
  }
  const Attempts served = attempts_in("max-attempts = 3\nerror-after = service\n", "errors:1");
  EXPECT_NEAR(served.run / served.said_errors, 1, kNear);
}

// The load when the outage begins, the hosts that are left while others restart, and the calls that budgets pay for.
TEST(SimulatedOutlook, KnowsWhatIsSoInTheOutage) {
  const auto look = [](const std::string& more) {
    return look_ahead(options_from("arrivals = open\nmax-attempts = 3\n" + more));
  };
  const std::string hosts = "service = workers\nworkers = 4\nreplicas = 3\nrate = 90\n";  // 120/s
  EXPECT_EQ(look("at = 10s load 2; 30s load 3\noutage-for = 20s\n").wanted, 200);
  EXPECT_EQ(look("arrivals = closed\nlambda = 1s\nat = 10s load 2\noutage-for = 20s\n").wanted,
            1000 / 0.6);
  EXPECT_FALSE(says(look(hosts + "at = 40s rolling-restart\n").warnings, "hosts-left"));
  const std::string start = "host-start = 9s\nat = 40s rolling-restart\n";
  EXPECT_TRUE(says(look(hosts + start).warnings, "hosts-left"));
  const auto dead = look("chain = a 900x1ms > b 900x1ms\nretry-budget = 10%\n").graph.back();
  EXPECT_EQ(dead.values[1], (StatementValue{"calls", 1.1 * 1.1}));
}

// Clients without think time, whose budget is empty, are as fast as the engine lets them.
TEST(SimulatedOutlook, CountsTheAttemptsOfClientsThatNeverWait) {
  const Attempts attempts = attempts_in(
      "strategy = aws-standard\nclients = 5\nlambda = 0s\noutage-for = 15s\n", "errors:1");
  EXPECT_NEAR(attempts.run / attempts.said_errors, 1, kNear);
}

TEST(SimulatedOutlook, CountsTheAttemptsThatTimeOut) {
  for (const char* settings :
       {"strategy = grpc\n", "max-attempts = 2\n", "", "strategy = none\n",
        "retry-budget = 10%\nmax-attempts = 3\n", "strategy = aws-standard\n",
        "strategy = aws-standard\nlambda = 0s\nclients = 100\n",
        "arrivals = open\nrate = 50\nmax-attempts = 3\n",
        "strategy = none\nhedge = 500ms\nhedge-max = 3\n",
        "arrivals = open\nrate = 50\nstrategy = none\nhedge = p95\nhedge-max = 2\n",
        "strategy = none\nhedge = 500ms\nhedge-max = 3\nhedge-budget = 0.05\n",
        "strategy = none\nhedge = 500ms\nhedge-max = 2\nretry-budget = 10%\n",
        "max-attempts = 3\nhedge = 100ms\nhedge-max = 2\n",
        "strategy = grpc\nretry-budget = none\nhedge = 500ms\nhedge-max = 5\n",
        "strategy = none\ntimeout = none\ndeadline = 2s\nhedge = 500ms\nhedge-max = 5\n",
        "arrivals = open\nrate = 50\nmax-attempts = 3\nhedge = 500ms\n",
        "arrivals = open\nrate = 500\nstrategy = none\nhedge = 500ms\nhedge-budget = 0.1\n"}) {
    const Attempts attempts = attempts_in(settings, "freeze");
    EXPECT_NEAR(attempts.run / attempts.said_timeouts, 1, kNear) << settings;
  }
}

// What is said of a queue is a bound: the errors are gone in the window after it. Averages may be exceeded by
// noise.
TEST(SimulatedOutlook, SaysHowLongAQueueDrainsAtMost) {
  const std::string service =
      "service = workers\nworkers = 20\nservice-time = 100ms\narrivals = open\n"
      "abandoned = serve\ntimeout = 1s\nmax-attempts = 3\nobserve = 5m\n";
  for (const char* settings :
       {"rate = 165\nretry-budget = 10%\noutage-for = 2s\n",
        "rate = 165\nretry-budget = 10%\noutage-for = 20s\n",
        "rate = 165\nretry-budget = 10%\noutage-for = 5s\noutage-at = 2m\n",
        "rate = 165\nretry-budget = 10%\noutage = load:3\noutage-for = 2s\n",
        "rate = 150\nretry-budget = tokens\nbudget-tokens = 2000\noutage-for = 2s\n",
        "rate = 150\nretry-budget = tower\noutage-for = 10s\n",
        "rate = 150\nretry-budget = 10%\ntimeout = 3s\noutage-for = 5s\nbacklog = 1024\n",
        "rate = 60\noutage-for = 10s\nbacklog = 1024\n"}) {
    const ScenarioOptions scenario = options_from(service + settings);
    const auto said = look_ahead(scenario).drains_in;
    ASSERT_TRUE(said) << settings;
    const auto gone = recovery_in(scenario).errors_gone;
    ASSERT_TRUE(gone) << settings;
    EXPECT_LE(to_seconds(*gone), 1.1 * to_seconds(*said) + 5) << settings;
    EXPECT_GE(to_seconds(*gone), to_seconds(*said) / 4) << settings;
  }
}

// A storm that refusals feed: as said, so run. 400/s of 800/s are wanted, three times each.
TEST(SimulatedOutlook, SaysWhetherRefusalsKeepAServiceDown) {
  using Case = std::pair<const char*, bool>;
  const std::string open = "arrivals = open\nmax-attempts = 3\nqueue-length = 300\n";
  const std::string closed = "clients = 2000\nlambda = 4s\nqueue-length = 100\n";
  for (const auto& [settings, down] :
       {Case{"rate = 400\nrejection-cost = 30ms\n", false},
        Case{"rate = 400\nrejection-cost = 60ms\n", true},
        Case{"rate = 280\nrejection-cost = 60ms\n", false}, Case{"rejection-cost = 2ms\n", false},
        Case{"rejection-cost = 10ms\n", true}}) {
    const bool has_rate = std::string(settings).starts_with("rate");
    const ScenarioOptions scenario = options_from(
        "service = workers\nworkers = 64\nservice-time = 80ms\ntimeout = 1s\nbacklog = 4096\n"
        "strategy = fixed\noutage-for = 10s\n" +
        (has_rate ? open : closed) + settings);
    EXPECT_EQ(look_ahead(scenario).retries.can_hold, down) << settings;
    EXPECT_EQ(recovery_in(scenario).verdict == Verdict::kCollapsed, down) << settings;
  }
}

// 32 workers of 20 ms do 1,600/s. With a hedge 900/s are 1,800 attempts.
TEST(SimulatedOutlook, SaysWhetherHedgesKeepAServiceDown) {
  using Case = std::pair<const char*, bool>;
  for (const auto& [settings, down] :
       {Case{"rate = 900\n", true}, Case{"rate = 750\n", false},
        Case{"rate = 900\nhedge-budget = 0.05\n", false},
        Case{"rate = 900\nhedge-budget = 0.05\nprocesses = 100\n", true},
        Case{"rate = 900\nretry-budget = 10%\n", false}, Case{"rate = 420\nhedge-max = 3\n", true},
        Case{"rate = 380\nhedge-max = 3\n", false}}) {
    const ScenarioOptions scenario = options_from(
        "service = workers\nworkers = 32\nservice-time = 20ms\narrivals = open\n"
        "hedge = 50ms\nmax-retries = 0\nbacklog = 4096\nobserve = 2m\n" +
        std::string(settings));
    EXPECT_EQ(look_ahead(scenario).retries.can_hold, down) << settings;
    EXPECT_EQ(recovery_in(scenario).verdict == Verdict::kCollapsed, down) << settings;
  }
}

// The services of a chain whose workers wait for the next ones: 64 of 65 ms, 64 of 60 ms, 24 of 40 ms.
TEST(SimulatedOutlook, ComparesTheServicesOfAChainWithTheLoad) {
  const ScenarioOptions scenario = options_from(
      "chain = api 64x5ms > orders 64x20ms >500ms db 24x40ms\narrivals = open\nrate = 240\n"
      "timeout = 1s\nfixed-delay = 100ms\nmax-attempts = 3\n");
  const Outlook outlook = look_ahead(scenario);
  ASSERT_EQ(outlook.graph.size(), 4u);
  const double can[] = {985, 1067, 600}, used[] = {240 / 984.6, 240 / 1066.7, 240 / 600.};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(std::get<double>(outlook.graph[i].values[1].of), can[i]);
    EXPECT_NEAR(std::get<ShareOf>(outlook.graph[i].values[2].of).share, used[i], 1e-3);
  }
  // 3 attempts of 1 s and 2 waits, and api's own 5 ms; 3 of 0.5 s, 2 waits and 20 ms.
  ASSERT_EQ(outlook.warnings.size(), 2u);
  for (const auto& [i, longest] : {std::pair(0, 3.205), std::pair(1, 1.72)}) {
    EXPECT_EQ(outlook.warnings[i].id, "gives-up-first");
    EXPECT_EQ(outlook.warnings[i].values[4].name, "longest");
    EXPECT_NEAR(to_seconds(std::get<Duration>(outlook.warnings[i].values[4].of)), longest, 1e-6);
  }
}

// 500 clients want 100/s of 200/s, and wait for 0.3 s. Within 4 s too many come at a time; spread over
// the window that the outlook says, none waits for long. Clients that hardly send anything need less.
TEST(SimulatedOutlook, SaysOverHowLongAHerdMustComeBack) {
  const auto run = [](const std::string& lambda, const std::string& base, bool as_said) {
    ScenarioOptions scenario = options_from(
        "service = workers\nworkers = 20\nservice-time = 100ms\nclients = 500\n"
        "timeout = 300ms\noutage = reconnect\nreconnect-growth = constant\nabandoned = serve\n"
        "lambda = " +
        lambda + "\nreconnect-base = " + base + '\n');
    if (as_said) {
      scenario.workload.reconnect.backoff.base = look_ahead(scenario).herd->base_for_room;
    }
    const Summary summary = Simulation(make_scenario(scenario, 1), {}).run().summary;
    EXPECT_TRUE(summary.reconnect->all_back || !as_said);
    return summary.recovery.verdict;
  };
  EXPECT_EQ(run("4900ms", "4s", false), Verdict::kCollapsed);
  EXPECT_EQ(run("4900ms", "4s", true), Verdict::kRecovered);
  EXPECT_NE(run("1h", "1s", true), Verdict::kCollapsed);
}

}  // namespace
}  // namespace retrystorm
