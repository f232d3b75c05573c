// Services that call several others, compared with what is known of them without a simulation.

#include "simulator/graph/topology_file.h"
#include "simulator/graph/topology_options.h"
#include "simulator/scenario_options.h"
#include "simulator/simulation.h"
#include "tests/support/refusal.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

ScenarioOptions options_of(const std::string& topology, const std::string& settings) {
  ScenarioOptions options = options_from(settings);
  options.graph.topology = TopologyFile("shop.ini", topology);
  return options;
}

Summary run_of(const std::string& topology, const std::string& settings) {
  return Simulation(make_scenario(options_of(topology, settings), 1), {}).run().summary;
}

double calls_of(const Summary& run, const std::string& node) {
  for (const NodeResult& each : run.graph->nodes) {
    if (each.name == node) return each.amplification;
  }
  return -1;
}

double share_of(const Summary& run, const std::string& from, const std::string& to) {
  for (const EdgeResult& each : run.graph->edges) {
    if (each.from == from && each.to == to) return each.share;
  }
  return -1;
}

// 40,000 requests, and services that are never busy. The one with the outage fails, at once, with this share.
std::string erring(const std::string& share) {
  return "arrivals = open\nrate = 400\nstrategy = none\ntimeout = 20s\noutage-at = 0s\noutage-for = 100s\n"
         "observe = 0s\noutage = errors:" +
         share + "\n";
}

// A service that is never busy. The others begin like this, too.
std::string service(const std::string& name, const std::string& more = "") {
  return '[' + name + "]\nworkers = 900\nservice-time = 1ms\n" + more + '\n';
}
// Files, and what is said of each that cannot be used.
void expect_files_refused(const std::vector<std::pair<std::string, std::string>>& rows) {
  test::expect_refusals([](const std::string& text) { TopologyFile("shop.ini", text); }, rows);
}

TEST(TopologyFile, SaysWhichLineIsWrong) {
  expect_files_refused({
      {"[a]\ncalls = b\n\n; the leaf\n[b]\n", ""},
      {"", "shop.ini: it has no section"},
      {"workers = 3\n", "shop.ini: line 1: "},
      {"[a]\nwokers = 3\n", "shop.ini: line 2: 'wokers'"},
      {"[a]\nworkers = many\n", "line 2"},
      {"[a]\nworkers\n", "line 2"},
      {"[a]\nworkers = 1\nworkers = 2\n", "line 3"},
      {"[a]\n[a]\n", "line 2"},
      {"[a\n", "line 1"},
      {"[a/b]\n", "line 1"},
      {"[clients]\n", "another"},
      {"[a]\ncalls = b & c\non-failure = need:3\n[b]\n[c]\n", "line 1: on-failure: 3"},
      {"[a]\nshed-status = 429\n", "line 2: shed-status has no effect"},
  });
}

TEST(TopologyFile, HasNoCirclesAndNothingThatNobodyCalls) {
  std::string many = "[s0]\ncalls = s1";
  for (int i = 1; i < 65; ++i) many += ", s" + std::to_string(i);
  many += '\n';
  for (int i = 1; i < 65; ++i) many += "[s" + std::to_string(i) + "]\n";
  // No more are read than are possible: a hundred thousand would take ten seconds.
  std::string services, kinds = "[a]\n";
  for (int i = 0; i < 100'000; ++i) services += "[s" + std::to_string(i) + "]\n";
  for (int i = 0; i < 50'000; ++i) kinds += "[clients.c" + std::to_string(i) + "]\n";
  const auto begin = std::chrono::steady_clock::now();
  expect_files_refused({
      {"[a]\ncalls = b\n[b]\ncalls = c\n[c]\ncalls = b\n", "line 3: b > c > b: a circle"},
      {"[a]\ncalls = a\n", "circle"},
      {"[a]\ncalls = stok\n[stock]\n", "line 1"},
      {"[a]\n[b]\n", "line 2: nobody calls b."},
      {"[a]\n[b]\n[a.b]\n", "nobody"},
      {"[a]\ncalls = c\n[b]\n[c]\ncalls = b\n[a.b]\n", "line 6"},
      {many, "at most 64 services"},
      {services, "64"},
      {kinds, "possible"},
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(ParseCalls, ReadsGroupsAndWhatStandsAfterAName) {
  const NamedPlan plan = parse_calls("cart, price & stock?, db*2@0.1, shard&3");
  ASSERT_EQ(plan.size(), 4);
  EXPECT_EQ(plan[0][0].to, "cart");
  ASSERT_EQ(plan[1].size(), 2);
  EXPECT_FALSE(plan[1][0].call.optional);
  EXPECT_TRUE(plan[1][1].call.optional);
  EXPECT_EQ(plan[2][0].call.times, 2);
  EXPECT_EQ(plan[2][0].call.share, 0.1);
  EXPECT_EQ(plan[3].size(), 3);
  EXPECT_TRUE(parse_calls(" ").empty());
  EXPECT_THROW(parse_calls("cart,,db"), std::invalid_argument);
  EXPECT_THROW(parse_calls("cart!"), std::invalid_argument);
  EXPECT_THROW(parse_calls("cart*0"), std::invalid_argument);
  EXPECT_THROW(parse_calls("a*1000&1000, b&1000, c&1000, d&1000, e&1000, f&1000, g&1000, h&1000, "
                           "i&1000, j&1000, k&1000"),
               std::invalid_argument);
}

TEST(Topology, TakesPercentagesAndThousands) {
  const auto ok = [](const std::string& spread, const std::string& places) {
    return run_of("[api]\nworkers = 8\nservice-time = lognormal:60ms:" + spread +
                      "\nqueue-length = " + places + "\n",
                  "clients = 50\n")
        .counts.ok;
  };
  EXPECT_EQ(ok("50%", "1k"), ok("0.5", "1000"));
}

// What each section of clients sets does not come from the command line, also where the value is the default one.
TEST(Topology, RefusesOptionsThatAllSectionsOverrule) {
  const auto why = [](const std::string& topology, const std::string& settings,
                      const std::string& name) {
    const UnusedOptions unused = unused_options(options_of(topology, settings), {name});
    const auto found = unused.find(name);
    return found == unused.end() ? "" : found->second;
  };
  const std::string open = "[clients.app]\narrivals = open\nrate = 30\nstrategy = none\n";
  const std::string closed = "[clients.batch]\nclients = 10\n";
  const std::string one = service("a") + open, two = one + closed;
  EXPECT_EQ(why(one, "rate = 3000\n", "rate"),
            "rate has no effect: each [clients.*] of shop.ini sets it");
  EXPECT_NE(why(one, "", "rate"), "");
  EXPECT_EQ(why(one, "timeout = 3s\n", "timeout"), "");
  EXPECT_EQ(why(two, "rate = 5000\n", "rate"),
            "rate has no effect: each [clients.*] of shop.ini sets it or does not use it");
  EXPECT_EQ(why(two, "clients = 7\n", "clients"),
            "clients has no effect: each [clients.*] of shop.ini sets it or does not use it");
  EXPECT_EQ(why(two + "[clients.other]\n", "clients = 7\n", "clients"), "");
  // A strategy sets all that belongs to it, in whatever form that is given.
  EXPECT_NE(why(one, "strategy = grpc\n", "strategy"), "");
  EXPECT_NE(why(one, "strategy = fixed\n", "strategy"), "");
  EXPECT_NE(why(one, "max-retries = 5\n", "max-retries"), "");
  EXPECT_NE(why(one, "max-attempts = 6\n", "max-attempts"), "");
  EXPECT_EQ(why(two, "max-retries = 5\n", "max-retries"), "");
  // Calls take it, if their own section does not set it.
  const std::string calls = service("a", "calls = b\n") + service("b") + open;
  EXPECT_EQ(why(calls, "max-retries = 5\n", "max-retries"), "");
  EXPECT_EQ(why(calls, "retry-at = bottom\nbackoff-cap = 5s\n", "backoff-cap"), "");
  EXPECT_NE(why(calls + "[a.b]\nmax-attempts = 2\n", "max-retries = 5\n", "max-retries"), "");
  EXPECT_NE(why(calls, "rate = 3000\n", "rate"), "");
  // Without sections of clients, all is as on the command line.
  EXPECT_EQ(why(service("a"), "arrivals = open\nrate = 3000\n", "rate"), "");
}

TEST(Topology, RefusesRetryOptionsThatNoCallerTakesBecauseOfRetryAt) {
  const auto why = [](const std::string& topology, const std::string& where,
                      const std::string& name, const std::string& value) {
    return unused_options(
        options_of(topology, "retry-at = " + where + '\n' + name + " = " + value + '\n'))[name];
  };
  const std::string calls = "[a]\nworkers = 8\ncalls = b\n[b]\nworkers = 5\n";
  const std::string sets = calls + "[a.b]\nstrategy = aws-standard\n";
  for (const auto& [name, value] :
       {std::pair("retry-on", "503"), std::pair("hedge", "10ms"), std::pair("backoff-cap", "5s"),
        std::pair("retry-budget", "10%")}) {
    const std::string none = std::string(name) + " has no effect with --retry-at=none";
    EXPECT_EQ(why(calls, "none", name, value), none);
    EXPECT_EQ(why(calls, "top", name, value), "") << name;
    EXPECT_EQ(why(calls, "bottom", name, value), "") << name;
    EXPECT_EQ(why(sets, "all", name, value), "") << name;
    EXPECT_EQ(why(sets, "top", name, value), "") << name;
    EXPECT_EQ(
        why(sets, "bottom", name, value),
        std::string(name) +
            " has no effect with --retry-at=bottom: the sections of the callers that retry set it");
  }
  EXPECT_EQ(why(calls, "none", "max-attempts", "5"),
            "max-retries (max-attempts) has no effect with --retry-at=none");
  // These are not about retries.
  EXPECT_EQ(why(calls, "none", "timeout", "2s"), "");
  EXPECT_EQ(why(calls, "none", "deadline", "2s"), "");
  EXPECT_EQ(why(calls, "none", "breaker", "resilience4j"), "");
}

TEST(Topology, RefusesServiceOptionsThatAllSectionsSet) {
  const std::string all =
      "[api]\nworkers = 8\nwaiting = free\nbacklog = 9\ncalls = db\n"
      "[db]\nworkers = 5\nwaiting = hold\nqueue-length = 7\n[api.db]\ntimeout = 1s\n";
  const auto why = [](const std::string& topology, const std::string& name,
                      const std::string& value) {
    return unused_options(options_of(topology, name + " = " + value + '\n'), {name})[name];
  };
  const std::string reason = " has no effect: in shop.ini [api] and [db] set it";
  EXPECT_EQ(why(all, "workers", "4"), "workers" + reason);
  EXPECT_EQ(why(all, "workers", "10"), "workers" + reason);  // the default
  EXPECT_EQ(why(all, "waiting", "free"), "waiting" + reason);
  EXPECT_EQ(why(all, "backlog", "3"), "");
  EXPECT_EQ(why(all, "queue-length", "3"), "");
  EXPECT_EQ(why(all, "service-time", "3s"), "");
  // Actions change the service itself.
  EXPECT_EQ(why(all, "at", "20s set workers=4"), "");
  EXPECT_EQ(why("[only]\nworkers = 4\n", "workers", "4"),
            "workers has no effect: in shop.ini [only] sets it");
}

// What is said of the run names the options that some service leaves to the command line.
TEST(Topology, NamesTheOptionsThatAServiceDoesNotSet) {
  using testing::Contains;
  using testing::Not;
  const std::string api = "[api]\nworkers = 8\nservice-time = 5ms\ncalls = db\n";
  const auto names = [](const std::string& topology, const std::string& settings = "") {
    return deciding_options(look_ahead(options_of(topology, settings)));
  };
  const auto without_time = names(api + "[db]\nworkers = 5\n");
  EXPECT_THAT(without_time, Contains("service-time"));
  EXPECT_THAT(without_time, Contains("backlog"));
  EXPECT_THAT(without_time, Not(Contains("workers")));
  EXPECT_THAT(names(api + "[db]\nservice-time = 5ms\n"), Contains("workers"));
  const std::string all = api + "backlog = 9\n[db]\nworkers = 5\nservice-time = 5ms\nbacklog = 9\n";
  for (const char* name : {"workers", "service-time", "backlog"}) {
    EXPECT_THAT(names(all), Not(Contains(name)));
  }
  ScenarioOptions chain = options_of("[a]\n", "chain = api 2x5ms > db 2x5ms\n");
  chain.graph.topology = {};
  EXPECT_THAT(deciding_options(look_ahead(chain)), Not(Contains("workers")));
}

// The second number of a warning about calls.
double through(const Statement& warning) {
  return std::round(10 * std::get<double>(warning.values.at(1).of)) / 10;
}

// Of the second service.
double used_of_db(const Outlook& outlook) {
  return std::get<ShareOf>(outlook.graph.at(1).values.at(2).of).share;
}

// 5 connections / 40 ms = 125/s, 4 attempts at a time / 40 ms = 100/s, and hedges after 30 ms of 40 ms double 150/s.
TEST(Topology, SaysWhatTheCallsOfAServiceLetThrough) {
  const auto look = [](const std::string& edge) {
    return look_ahead(options_of(
        "[orders]\nworkers = 900\nservice-time = 1ms\ncalls = db\n"
        "[db]\nworkers = 20\nservice-time = 40ms\n[orders.db]\n" +
            edge,
        "arrivals = open\nrate = 150\nstrategy = none\ntimeout = 10s\noutage-for = 0s\n"));
  };
  const auto first = [&](const std::string& edge) {
    const Statements warnings = look("timeout = 2s\n" + edge).warnings;
    return warnings.empty() ? Statement() : warnings.front();
  };
  EXPECT_EQ(first("").id, "");
  const Statement pools = first("connections = keep-alive\npool-size = 5\n");
  EXPECT_EQ(pools.id, "call-connections-below-load");
  EXPECT_EQ(through(pools), 125);
  EXPECT_NEAR(used_of_db(look("connections = keep-alive\npool-size = 5\n")), 0.25, 1e-9);
  EXPECT_EQ(first("connections = keep-alive\npool-size = 7\n").id, "");  // 175/s
  EXPECT_EQ(first("client-rate = 40/s\n").id, "call-client-rate-below-load");
  EXPECT_EQ(through(first("client-rate = 40/s\n")), 40);
  EXPECT_NEAR(used_of_db(look("client-rate = 40/s\n")), 0.08, 1e-9);
  EXPECT_EQ(first("concurrency-limit = fixed:4\n").id, "call-concurrency-below-load");
  EXPECT_EQ(through(first("concurrency-limit = fixed:4\n")), 100);
  EXPECT_EQ(first("concurrency-limit = fixed:7\n").id, "");
  EXPECT_EQ(first("hedge = 30ms\n").id, "call-half-hedged");
  EXPECT_NEAR(used_of_db(look("hedge = 30ms\n")), 0.6, 1e-9);
  EXPECT_EQ(first("hedge = 50ms\n").id, "");
}

// Each sends 90/s twice: 90 x 2 x 2 = 360/s. A request takes 105 ms of the first service, 5 / 105 ms = 47.6/s.
TEST(Topology, CountsTheHedgesAndThePoolsOfTheClients) {
  const auto look = [](const std::string& settings) {
    ScenarioOptions options = options_from(
        "chain = api 64x5ms > db 20x100ms\narrivals = open\nrate = 90\nstrategy = none\n"
        "outage-for = 0s\n" +
        settings);
    return look_ahead(options);
  };
  const Statement slow = look("hedge = 60ms\n").warnings.front();
  EXPECT_EQ(slow.id, "service-too-slow");
  EXPECT_EQ(std::get<double>(slow.values.at(1).of), 200);
  EXPECT_NEAR(std::get<double>(slow.values.at(2).of), 360, 1e-9);
  const Statement pools = look("connections = keep-alive\npool-size = 5\n").warnings.front();
  EXPECT_EQ(pools.id, "call-connections-below-load");
  EXPECT_EQ(through(pools), 47.6);
  EXPECT_TRUE(says(look("client-rate = 40/s\n").warnings, "client-rate-below-load") ||
              says(look("client-rate = 40/s\n").warnings, "call-client-rate-below-load"));
  EXPECT_NEAR(used_of_db(look("client-rate = 40/s\n")), 0.2, 1e-9);
}

// b hangs for 100 s. a waits for it for 2 s, and its clients for 1 s: said, and so run. With the mend that is said
// all succeed.
TEST(Topology, SaysThatAnOptionalCallMayNotHang) {
  const std::string settings =
      "arrivals = open\nrate = 100\nstrategy = none\ntimeout = 1s\noutage = freeze\noutage-at = 10s\n"
      "outage-for = 100s\nobserve = 0s\noutage-of = b\n";
  const std::string services = service("a", "calls = b?\n") + service("b");
  const auto warnings = [&](const std::string& edge) {
    return look_ahead(options_of(services + edge, settings)).warnings;
  };
  const std::string slow = "[a.b]\ntimeout = 2s\n",
                    mended = "[a.b]\ntimeout = 500ms\nmax-retries = 0\n";
  ASSERT_EQ(warnings(slow).size(), 1u);
  EXPECT_EQ(warnings(slow)[0].id, "optional-call-hangs");
  EXPECT_EQ(std::get<std::string>(warnings(slow)[0].values.back().of), "500ms");
  EXPECT_TRUE(warnings(mended).empty());
  const auto during = [&](const std::string& edge) {
    return run_of(services + edge, settings).phases->at(1).counts.success_share();
  };
  EXPECT_EQ(during(slow), 0);
  EXPECT_EQ(during(mended), 1);
}

TEST(Topology, CallsMayFailBeLeftOutOrBeMadeOneAfterTheOther) {
  const Summary optional = run_of(service("a", "calls = b?\n") + service("b"), erring("1"));
  EXPECT_EQ(optional.counts.success_share(), 1);
  EXPECT_NEAR(calls_of(optional, "b"), 1, 0.01);
  const Summary some = run_of(service("a", "calls = b@0.1\n") + service("b"), erring("1"));
  EXPECT_NEAR(some.counts.success_share(), 0.9, 0.005);
  EXPECT_NEAR(calls_of(some, "b"), 0.1, 0.005);
  const auto time_of = [](const std::string& calls) {
    const Summary run = run_of(
        service("a", "calls = " + calls + '\n') + "[b]\nworkers = 900\nservice-time = 40ms\n",
        erring("0"));
    return run.latencies.requests().quantile(0.5)->time;
  };
  EXPECT_NEAR(to_seconds(time_of("b")), 0.041, 0.001);
  EXPECT_NEAR(to_seconds(time_of("b*3")), 0.121, 0.002);
  EXPECT_NEAR(to_seconds(time_of("b, b, b")), 0.121, 0.002);
  EXPECT_NEAR(to_seconds(time_of("b&3")), 0.041, 0.001);
}

// Of two calls, one after the other, the second is made if the first has not failed at once: 1.5 of them, and a quarter
// of the requests succeeds.
TEST(Topology, TheSecondCallMayFailAtOnce) {
  const Summary run = run_of(service("a", "calls = b*2\n") + service("b"), erring("0.5"));
  EXPECT_NEAR(calls_of(run, "b"), 1.5, 0.02);
  EXPECT_NEAR(run.counts.success_share(), 0.25, 0.02);
}

// If one of two calls fails at once, the request fails at once, or when the other has ended too.
TEST(Topology, FailsAtOnceOrWhenAllHaveEnded) {
  const auto time_of = [](const std::string& rule) {
    const Summary run =
        run_of(service("a", "calls = slow & dead\non-failure = " + rule + '\n') +
                   "[slow]\nworkers = 900\nservice-time = 100ms\n" + service("dead"),
               erring("1") + "outage-of = dead\n");
    EXPECT_EQ(run.counts.ok, 0);
    return run.latencies.requests().quantile(0.5)->time;
  };
  EXPECT_NEAR(to_seconds(time_of("fail-fast")), 0.001, 0.001);
  EXPECT_NEAR(to_seconds(time_of("all")), 0.101, 0.002);
}

TEST(Topology, PassesOnWhatItGot) {
  const auto errors_with = [](const std::string& rule, int status) {
    const Counts counts =
        run_of(service("a", "calls = b\nupstream-failure = " + rule + '\n') + service("b"),
               erring("1:404"))
            .counts;
    return counts.errors > 0 &&
           counts.errors_by[error_kind(answered(status, {}, 0s))] == counts.errors;
  };
  EXPECT_TRUE(errors_with("502", 502));
  EXPECT_TRUE(errors_with("pass", 404));
}

// Exponential times of 100 ms: one in ten takes longer than 230.3 ms. (Row 59 of docs/validation.csv has the latencies.)
TEST(Topology, CallsAreHedged) {
  const std::string graph =
      service("a", "calls = b\n") + "[b]\nworkers = 900\nservice-time = exponential:100ms\n";
  const std::string requests =
      "arrivals = open\nrate = 200\nstrategy = none\ntimeout = 60s\noutage-for = 0s\n"
      "observe = 170s\n";
  const std::string hedged = requests + "hedge = 230.3ms\nretry-at = ";
  EXPECT_NEAR(calls_of(run_of(graph, hedged + "bottom\n"), "b"), 1.1, 0.006);
  EXPECT_NEAR(calls_of(run_of(graph, hedged + "none\n"), "b"), 1, 0.001);
}

// A service that hangs gets a call at 0, 400 and 800 ms. With a deadline of 1 s that travels along there is no fourth one.
// Nor is there with `need:1` when the other call has been answered after 900 ms.
TEST(Topology, HedgesEndWithTheirRequest) {
  const auto calls = [](const std::string& more, const std::string& rule,
                        const std::string& deadline) {
    return calls_of(
        run_of(service("a", "calls = b" + more + "\non-failure = " + rule + '\n') + service("b") +
                   (more.empty() ? "" : "[c]\nworkers = 900\nservice-time = 900ms\n") +
                   "[a.b]\nhedge = 400ms\nhedge-max = 9\ntimeout = 20s\n",
               "arrivals = open\nrate = 10\nstrategy = none\ntimeout = 1s\noutage-at = 0s\n"
               "outage-for = 200s\nobserve = 0s\noutage-of = b\ndeadline-propagation = " +
                   deadline + '\n'),
        "b");
  };
  EXPECT_NEAR(calls("", "all", "none"), 10, 0.3);
  EXPECT_NEAR(calls("", "all", "attempt"), 3, 0.03);
  EXPECT_NEAR(calls(" & c", "need:1", "none"), 3, 0.03);
}

// One worker of 20 ms, 25 requests a second, and five times as many for 10 s: 750 wait then. Without deadlines each of
// them is served, and the first answer in time comes when fewer than 50 wait, (750 - 50)/25 = 28 s later. With them the
// worker takes none that has waited for longer than the timeout.
TEST(Topology, DeadlinesDropRequestsThatNobodyWaitsFor) {
  const auto back_after = [](const std::string& deadline) {
    const Summary run = run_of(
        "[a]\nworkers = 1\nservice-time = 20ms\n",
        "arrivals = open\nrate = 25\nstrategy = none\ntimeout = 1s\noutage = load:5\noutage-for = 10s\n"
        "backlog = 10000\ndeadline-propagation = " +
            deadline + '\n');
    return to_seconds(run.recovery.time_to_half.value_or(1h));
  };
  EXPECT_NEAR(back_after("none"), 28, 5.1);
  EXPECT_LE(back_after("attempt"), 5);
  EXPECT_THAT(test::refusal_of([&] { back_after("request"); }), HasSubstr("--deadline"));
}

// Its own work before its calls, after them, or both: the time of a request is the same, and what 10 workers of 20 ms can
// do while they wait for 30 ms more, or do not wait.
TEST(Topology, OwnWorkCanComeFirstOrLast) {
  const auto done = [](const std::string& when, const std::string& waiting,
                       const std::string& rate) {
    const Summary run = run_of(
        "[a]\nworkers = 10\nservice-time = 20ms\ncalls = b\nqueue-length = 1000\nown-work = " +
            when + "\nwaiting = " + waiting + "\n[b]\nworkers = 9000\nservice-time = 30ms\n",
        "arrivals = open\nstrategy = none\ntimeout = 20s\noutage-for = 0s\nobserve = 70s\nrate = " +
            rate + '\n');
    return std::pair(run.graph->nodes[0].end->in_time,
                     to_seconds(run.latencies.requests().quantile(0.5)->time));
  };
  for (const std::string when : {"before-calls", "after-calls", "split"}) {
    EXPECT_NEAR(done(when, "hold", "5").second, 0.05, 0.001) << when;
    EXPECT_NEAR(done(when, "free", "5").second, 0.05, 0.001) << when;
    EXPECT_NEAR(done(when, "hold", "1000").first, 10 / 0.05, 3) << when;
    EXPECT_NEAR(done(when, "free", "1000").first, 10 / 0.02, 15) << when;
  }
}

// A service that restarts loses its requests in each of these states, and goes on.
TEST(Topology, ServicesOfAnyKindCanBeFrozenAndRestarted) {
  for (const std::string more :
       {"own-work = split\n", "retry-scope = all\n", "waiting = free\nown-work = after-calls\n",
        "deadline-propagation = attempt\n",
        "hedge = 200ms\nhedge-max = 3\ndeadline-propagation = attempt\n",
        "connections = keep-alive\npool-size = 30\nserver-idle = 3s\n",
        "connections = multiplexed\nstreams = 30\ndeadline-propagation = attempt\n"}) {
    const bool of_run = more.find("deadline") != more.npos || more.find("connections") != more.npos;
    for (const std::string of : {"a", "b", "d"}) {
      const Summary run = run_of(
          "[a]\nworkers = 10\nservice-time = 5ms\ncalls = b & c?, d\n" + (of_run ? "" : more) +
              "[b]\nworkers = 10\nservice-time = 50ms\ncalls = d\n[c]\nworkers = 10\nservice-time = 5ms\n"
              "[d]\nworkers = 10\nservice-time = 10ms\n",
          "arrivals = open\nrate = 20\nstrategy = fixed\nfixed-delay = 100ms\nmax-attempts = 2\ntimeout = 1s\n"
          "observe = 60s\nat = 70s " +
              of + " restart; 75s " + of + " restart\nfault = 72s-74s drop of " + of +
              "\noutage-for = 10s\noutage-of = " + of + '\n' + (of_run ? more : ""));
      EXPECT_NE(run.recovery.verdict, Verdict::kCollapsed) << of << ' ' << more;
      EXPECT_LE(run.counts.requests - run.counts.ok - run.counts.gave_up(), 30)
          << of << ' ' << more;
      for (const NodeResult& each : run.graph->nodes) {
        EXPECT_LT(each.end->calling, 30) << of << ' ' << more << ' ' << each.name;
        EXPECT_GT(each.end->in_time, 10) << of << ' ' << more << ' ' << each.name;
      }
    }
  }
}

// An attempt that finds the pool full fails at once: as many as find all of so many servers busy (Erlang's formula B).
// 60 calls a second of 50 ms, for 4 connections, or for 2 with room for 2 calls each.
TEST(Topology, CallsHaveAPoolOfConnections) {
  double blocked = 1;
  for (int n = 1; n <= 4; ++n) blocked = 3 * blocked / (n + 3 * blocked);
  for (const std::string pool : {"connections = keep-alive\npool-size = 4\n",
                                 "connections = multiplexed\npool-size = 2\nstreams = 2\n"}) {
    const Summary run = run_of(
        service("a", "calls = b\nwaiting = free\n") +
            "[b]\nworkers = 900\nservice-time = exponential:50ms\n[a.b]\npool-wait = 0s\n" + pool,
        "arrivals = open\nrate = 60\nstrategy = none\ntimeout = 60s\noutage-for = 0s\nobserve = 970s\n");
    EXPECT_NEAR(1 - run.counts.success_share(), blocked, 0.006) << pool;
  }
}

// With kept connections an accept queue for one connection does not matter once all are open. The service of the pool of 20
// is frozen for as long as five of its requests take, and none of them is lost. With new ones they are.
TEST(Topology, KeptConnectionsOutlastAFreeze) {
  const auto late = [](const std::string& connections) {
    const Summary run = run_of(
        service("a", "calls = b\n") +
            "[b]\nworkers = 900\nservice-time = 20ms\nbacklog = 1\n[a.b]\ntimeout = 900ms\nconnections = " +
            connections,
        "arrivals = open\nrate = 200\nstrategy = none\ntimeout = 60s\noutage-at = 20s\noutage-for = 100ms\n"
        "observe = 20s\n");
    return run.counts.errors;
  };
  EXPECT_LE(late("keep-alive\n"), 15);
  EXPECT_EQ(late("multiplexed\npool-size = 1\nstreams = 100\n"), 0);
  EXPECT_GE(late("new\n"), 5);
}

const std::string kTwoKinds =
    "[clients.pushy]\narrivals = open\nrate = 100\nstrategy = fixed\nfixed-delay = 5ms\nmax-attempts = 4\n"
    "[clients.calm]\nclients = 50\nlambda = 1s\nstrategy = none\n";

// A share of 1/2 fails: four attempts come to 1 + 1/2 + 1/4 + 1/8 and succeed in 15 of 16 cases.
TEST(Topology, ClientsOfSeveralKindsRetryEachInTheirWay) {
  const Summary run = run_of(
      service("a", "calls = b\n") + service("b") + kTwoKinds,
      "outage-at = 0s\noutage-for = 200s\nobserve = 0s\noutage = errors:0.5\nretry-at = top\n");
  ASSERT_EQ(run.graph->clients.size(), 2);
  const ClientsResult &pushy = run.graph->clients[0], &calm = run.graph->clients[1];
  EXPECT_EQ(pushy.name, "pushy");
  EXPECT_NEAR(pushy.counts.amplification(), 1.875, 0.02);
  EXPECT_NEAR(pushy.counts.success_share(), 0.9375, 0.006);
  EXPECT_EQ(calm.counts.retries, 0);
  EXPECT_NEAR(calm.counts.success_share(), 0.5, 0.015);
  EXPECT_EQ(run.counts.ok, pushy.counts.ok + calm.counts.ok);
  EXPECT_EQ(run.latencies.attempts().count(), run.counts.ok);
  EXPECT_NEAR(*pushy.ok[1], 93.75, 2);
  // 187.5 attempts a second of all, and 50 clients that think for 1 s and are answered after 2 ms.
  EXPECT_NEAR(share_of(run, "clients.pushy", "a"), 187.5 / (187.5 + 50 / 1.002), 0.01);
}

TEST(Topology, TheLoadOfAllKindsOfClientsChanges) {
  const Summary run = run_of(service("a") + kTwoKinds,
                             "outage = load:3\noutage-at = 20s\noutage-for = 60s\nobserve = 20s\n");
  EXPECT_NEAR(*run.graph->clients[0].ok[1], 300, 12);
  EXPECT_NEAR(*run.graph->clients[1].ok[1], 150, 10);
  EXPECT_NEAR(*run.graph->clients[1].ok[2], 50, 8);
}

TEST(TopologyFile, SaysWhatIsWrongWithClients) {
  expect_files_refused({
      {"[a]\n[clients.app]\nclients = 5\n", ""},
      {"[a]\n[clients]\nclients = 5\n", "line 2"},
      {"[a]\n[clients.a/b]\n", "line 2"},
      {"[a]\n[clients.app]\nseed = 5\n", "line 3"},
      {"[a]\n[clients.app]\narrivals = job\n", "line 2"},
      {"[a]\n[clients.app]\narrivals = closed\nrate = 5\n", "line 4"},
      {"[a]\n[clients.app]\nclients = 0\n", "line 3"},
      {"[a]\n[clients.app]\n[clients.app]\n", "line 3"},
      {"[clients.app]\nclients = 5\n", "it has no service"},
  });
}

TEST(Faults, OverlapAndHaveAServiceOfTheirOwn) {
  const std::string two = service("a", "calls = b\n") + service("b");
  ScenarioOptions options =
      options_of(two,
                 "outage = slow:2\noutage-of = a\noutage-at = 10s\noutage-for = 20s\n"
                 "fault = 15s-25s slow:3 of a; 20s-40s load:4 of b\nat = 22s b capacity 0.5\n");
  std::vector<std::string> told;
  std::map<std::size_t, ServiceTime> time;
  for (const Change& each : changes(options)) {
    told.push_back(format_duration(each.t) + ' ' + std::to_string(each.node) + ' ' +
                   format_duration(each.service.workers.service_time.mean()) + ' ' +
                   print_number(each.load));
  }
  EXPECT_THAT(told, testing::ElementsAre("10s 0 2ms 1", "15s 0 6ms 1", "20s 1 1ms 4", "22s 1 1ms 4",
                                         "25s 0 2ms 4", "30s 0 1ms 4", "40s 1 1ms 1"));
  options.timeline.faults.front().node = "c";
  EXPECT_THAT(test::refusal_of([&] { changes(options); }),
              HasSubstr("--fault '15s-25s slow:3 of c'"));
}

TEST(Faults, AreRefusedWhereTheyMeanNothing) {
  test::expect_refusals(
      [](const std::string& settings) { make_scenario(options_from(settings), 1); },
      {{"fault = 40s-50s slow:3; 45s-60s freeze\n", ""},
       {"fault = 40s slow:3\n", "FROM..TO"},
       {"fault = 50s-40s slow:3\n", "before"},
       {"fault = 40s-50s reconnect\n", "--outage"},
       {"fault = 40s-50s freeze of db\n", "service"},
       {"at = 40s db restart\n", "service"}});
}

// Two freezes that overlap are one.
TEST(Faults, AreEndedWhenTheLastOneEnds) {
  ScenarioOptions options = options_from(
      "arrivals = open\nrate = 50\nstrategy = none\noutage-at = 30s\noutage-for = 10s\nobserve = 60s\n"
      "service = workers\nworkers = 90\nfault = 35s-50s freeze\n");
  const Summary run = Simulation(make_scenario(options, 1), {}).run().summary;
  EXPECT_GE(run.recovery.time_to_recovery.value_or(0s), 5s);
}

}  // namespace
}  // namespace retrystorm
