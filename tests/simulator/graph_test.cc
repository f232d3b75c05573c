// Services behind services, in a row, compared with what is known of them without a simulation.
#include "simulator/graph/graph.h"

#include "simulator/scenario_options.h"
#include "simulator/simulation.h"
#include "tests/support/facts.h"
#include "tests/support/refusal.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

SimulationResult run_of(const std::string& settings, std::uint64_t seed = 1) {
  return Simulation(make_scenario(options_from(settings), seed), {}).run();
}

void expect_refused(const std::vector<std::pair<std::string, std::string>>& rows) {
  test::expect_refusals([](const std::string& given) { make_scenario(options_from(given), 1); },
                        rows);
}

// Calls of each service for a request of a client.
std::vector<double> calls_of(const SimulationResult& run) {
  std::vector<double> calls;
  for (const NodeResult& each : run.summary.graph->nodes) calls.push_back(each.amplification);
  return calls;
}

// No service is ever busy, and the last one fails all the time: with this share, and at once.
std::string failing(const std::string& share) {
  return "arrivals = open\nrate = 200\nstrategy = fixed\nfixed-delay = 5ms\nmax-attempts = 3\ntimeout = 2s\n"
         "outage-at = 0s\noutage-for = 100s\nobserve = 0s\noutage = errors:" +
         share + "\n";
}

constexpr char kThree[] = "chain = a 900x1ms > b 900x1ms > c 900x1ms\n";

TEST(ParseChain, ReadsWhatItPrints) {
  const auto chain = parse_chain("api 32x5ms > orders 16xlognormal:20ms:0.4 >250ms db 8x40ms");
  ASSERT_EQ(chain.size(), 3);
  EXPECT_EQ(chain[0].name, "api");
  EXPECT_EQ(chain[0].workers, 32);
  EXPECT_EQ(chain[0].service_time, ServiceTime::parse("5ms"));
  EXPECT_EQ(chain[1].service_time, ServiceTime::parse("lognormal:20ms:0.4"));
  EXPECT_EQ(chain[1].timeout, std::nullopt);
  EXPECT_EQ(chain[2].timeout, 250ms);
  EXPECT_EQ(print_chain(parse_chain(print_chain(chain))), print_chain(chain));
  const std::string hosts = "api 2*32xfixed:5ms >none db 8xfixed:40ms";
  EXPECT_EQ(print_chain(parse_chain(hosts)), hosts);
  EXPECT_EQ(parse_chain(hosts)[0].replicas, 2);
  EXPECT_EQ(parse_chain(hosts)[1].replicas, std::nullopt);
  EXPECT_EQ(parse_chain(hosts)[1].timeout, Duration::max());
  EXPECT_TRUE(parse_chain("").empty());
}

TEST(ParseChain, SaysWhereAChainIsWrong) {
  std::string long_chain = "chain = s0 1x1ms";
  for (int i = 1; i < 65; ++i) long_chain += " > s" + std::to_string(i) + " 1x1ms";
  expect_refused({{"chain = api 32x5ms > orders\n", "'orders'"},
                  {"chain = api 32x5ms > \n", "2"},
                  {"chain = api 0x5ms\n", "'api 0x5ms'"},
                  {"chain = a/b 32x5ms\n", "'a/b'"},
                  {"chain = clients 32x5ms\n", "another"},
                  {"chain = a 1x5ms > b 1x5ms > a 1x5ms\n", "3"},
                  {long_chain + '\n', "service 65: at most 64"}});
}

TEST(GraphOptions, AreRefusedWhereTheyMeanNothing) {
  const std::string chain = "chain = api 2x5ms > db 2x5ms\n";
  expect_refused({{chain + "outage-of = dv\n", "--outage-of: "},
                  {chain + "outage-of = api\n", ""},
                  {chain + "abandoned = cancel\n", "--abandoned=skip"},
                  {chain + "outage = reconnect\n", "--outage=reconnect"},
                  {chain + "retry-at = clients+apu\n", "did you mean api?"},
                  {chain + "retry-at = db\n", "--retry-at: 'db'"},  // calls nobody
                  {chain + "retry-at = api.api\n", "--retry-at: "}});
  for (const auto& [settings, name, unused] :
       {std::tuple(chain + "server-idle = 3s\n", "server-idle", true),
        {chain + "workers = 7\n", "workers", true},
        {"retry-at = top\n", "retry-at", true},
        {chain + "queue-length = 7\n", "queue-length", false}}) {
    EXPECT_EQ(unused_options(options_from(settings)).contains(name), unused) << name;
  }
}

// One service is the chain of length one.
TEST(Chain, OfOneServiceIsThatService) {
  const std::string rest =
      "clients = 400\nlambda = 1s\ntimeout = 500ms\nstrategy = fixed\nmax-attempts = 5\n";
  const SimulationResult chain = run_of(rest + "chain = api 20xlognormal:50ms\n");
  const SimulationResult one =
      run_of(rest + "service = workers\nworkers = 20\nservice-time = lognormal:50ms\n");
  EXPECT_EQ(chain.summary.counts.ok, one.summary.counts.ok);
  EXPECT_EQ(chain.summary.counts.timed_out, one.summary.counts.timed_out);
  EXPECT_EQ(chain.summary.counts.retries, one.summary.counts.retries);
  EXPECT_EQ(chain.summary.recovery.verdict, one.summary.recovery.verdict);
  EXPECT_EQ(chain.peak_concurrency, one.peak_concurrency);
}

TEST(Chain, RetriesOnlyWhereItIsTold) {
  const auto calls = [](const std::string& where) {
    return calls_of(run_of(failing("1") + kThree + "retry-at = " + where + "\n"));
  };
  EXPECT_THAT(calls("none"), testing::Pointwise(testing::DoubleNear(0.001), {1, 1, 1}));
  EXPECT_THAT(calls("top"), testing::Pointwise(testing::DoubleNear(0.01), {3, 3, 3}));
  EXPECT_THAT(calls("bottom"), testing::Pointwise(testing::DoubleNear(0.01), {1, 1, 3}));
  EXPECT_THAT(calls("all"), testing::Pointwise(testing::DoubleNear(0.05), {3, 9, 27}));
  // In each form in which a hop has a name.
  for (const char* hop : {"clients", "clients.a", "clients>a"}) EXPECT_EQ(calls(hop), calls("top"));
  for (const char* hop : {"b", "b.c", "b > c", "bottom + b"})
    EXPECT_EQ(calls(hop), calls("bottom"));
  EXPECT_THAT(calls("a"), testing::Pointwise(testing::DoubleNear(0.02), {1, 3, 3}));
  EXPECT_THAT(calls("clients+b"), testing::Pointwise(testing::DoubleNear(0.05), {3, 3, 9}));
}

GraphInterval window(int t, const std::vector<double>& in_time) {
  GraphInterval interval{.t = std::chrono::seconds(t), .window = 5s};
  for (const double each : in_time) {
    interval.nodes.push_back({.in_time = each, .workers = 10, .queue = 9});
    interval.edges.emplace_back();
  }
  return interval;
}

// Takes a window of services in whose queues seven requests are dead.
void take(GraphWatch& watch, const GraphInterval& interval) {
  watch.take(interval, [](std::size_t) { return std::size_t{7}; });
}

// Each service calls the next one.
GraphShape chain_of(const std::vector<std::string>& names) {
  GraphShape shape;
  for (const std::string& each : names) {
    const std::size_t number = shape.nodes.size();
    shape.edges.push_back({.from = number - 1, .to = number});
    shape.nodes.push_back({.name = each});
  }
  return shape;
}

// Dead: three windows after the outage with fewer than half of the answers before it.
TEST(GraphOptions, AreToldWithWhoRetries) {
  const auto title = [](const std::string& settings) {
    return callers_title(
        make_scenario(options_from("chain = api 2x5ms > orders 2x5ms > db 2x5ms\n" + settings), 1));
  };
  EXPECT_EQ(title(""), "fixed retries");
  EXPECT_EQ(title("retry-at = bottom\nmax-retries = 2\n"),
            "no retries of the clients, but of orders: constant 100ms, 2 retries");
  EXPECT_EQ(title("retry-at = none\n"), "no retries");
}

TEST(GraphWatch, FindsWhoDiesFirst) {
  GraphWatch watch(chain_of({"api", "orders", "db"}));
  for (int t = 5; t <= 20; t += 5) take(watch, window(t, {100, 100, 100}));
  watch.outage_begins(20s);
  take(watch, window(25, {0, 0, 0}));
  watch.outage_ends(25s);
  take(watch, window(30, {40, 60, 100}));
  for (int t = 35; t <= 45; t += 5) take(watch, window(t, {40, 40, 51}));
  const GraphResult result = watch.result();
  EXPECT_EQ(result.first, 0);
  EXPECT_EQ(result.nodes[0].died, 25s);
  EXPECT_EQ(result.nodes[1].died, 30s);
  EXPECT_EQ(result.nodes[2].died, std::nullopt);
  EXPECT_THAT(test::facts(result.why), testing::StartsWith("died-queue-dead(queue=9, dead=7); "));
}

// The calls a request of the outage's windows, not of the run, and who was full at its worst, also if all come back.
TEST(GraphWatch, SaysWhatTheOutageMadeOfServices) {
  GraphWatch watch(chain_of({"api", "db"}));
  const auto see = [&watch](int t, double requests, double calls, double busy, std::size_t queue) {
    GraphInterval at = window(t, {100, 100});
    at.edges.resize(2);
    at.edges[0].calls.requests = at.edges[0].calls.attempts = requests;
    at.edges[1].calls.attempts = calls;
    at.nodes[1].workers = 50;
    at.nodes[1].busy = busy;
    at.nodes[1].queue = queue;
    take(watch, at);
  };
  for (int t = 5; t <= 15; t += 5) see(t, 100, 100, 50, 3);  // full, but before the outage
  watch.outage_begins(15s);
  see(20, 100, 200, 49.9, 800);
  see(25, 100, 700, 50, 1126);
  watch.outage_ends(25s);
  see(30, 100, 100, 40, 2000);  // not full
  see(35, 100, 100, 50, 5);
  const GraphResult result = watch.result();
  EXPECT_EQ(result.first, std::nullopt);
  EXPECT_DOUBLE_EQ(result.nodes[0].during.value(), 1);
  EXPECT_DOUBLE_EQ(result.nodes[1].during.value(), 4.5);
  EXPECT_DOUBLE_EQ(result.nodes[1].amplification, 1400 / 700.0);
  EXPECT_EQ(result.nodes[0].full_at, std::nullopt);
  EXPECT_EQ(result.nodes[1].full_at, 20s);
  EXPECT_EQ(result.nodes[1].full_workers, 50u);
  EXPECT_EQ(result.nodes[1].full_queue, 1126u);
}

// Nobody retries without an outage, and in it all do: 27 calls a request of the clients (RetriesOnlyWhereItIsTold).
TEST(Chain, CountsTheCallsOfTheOutage) {
  const SimulationResult run = run_of(
      "arrivals = open\nrate = 200\nstrategy = fixed\nfixed-delay = 5ms\nmax-attempts = 3\ntimeout = 2s\n"
      "outage-at = 20s\noutage-for = 20s\nobserve = 40s\noutage = errors:1\n" +
      std::string(kThree));
  const NodeResult& last = run.summary.graph->nodes.back();
  EXPECT_NEAR(last.during.value(), 27, 0.5);
  EXPECT_NEAR(last.amplification, 1 + 26 * 20 / 80.0, 0.3);
  EXPECT_EQ(last.full_at, std::nullopt);
}

// A caller of a dead service dies with it.
TEST(GraphWatch, BlamesTheServiceThatTheOthersCall) {
  GraphWatch watch(chain_of({"api", "db"}));
  for (int t = 5; t <= 15; t += 5) take(watch, window(t, {100, 100}));
  watch.outage_begins(15s);
  watch.outage_ends(15s);
  for (int t = 20; t <= 30; t += 5) take(watch, window(t, {0, 10}));
  take(watch, window(35, {90, 90}));
  EXPECT_EQ(watch.result().first, 1);
  EXPECT_EQ(watch.result().nodes[1].back, 30s);
}

// Its caller has died, and so it has nothing to do.
TEST(GraphWatch, DoesNotBlameAServiceThatHasNothingToDo) {
  GraphWatch watch(chain_of({"api", "db"}));
  for (int t = 5; t <= 15; t += 5) take(watch, window(t, {100, 100}));
  watch.outage_begins(15s);
  watch.outage_ends(15s);
  for (int t = 20; t <= 30; t += 5) {
    GraphInterval at = window(t, {0, 10});
    at.nodes[1].workers = 8;
    at.nodes[1].busy = 1;
    at.nodes[1].queue = 0;
    take(watch, at);
  }
  EXPECT_EQ(watch.result().first, 0);
}

// A service that does 10/s is asked for 100/s once it has woken, and dies. It answers the oldest first, whose clients
// have gone: only those of the last second, their timeout, still wait. All of these are in the queue.
TEST(Chain, CountsTheDeadRequestsInAQueue) {
  const SimulationResult run = run_of(
      "arrivals = open\nrate = 5\nstrategy = none\ntimeout = 1s\noutage-at = 30s\noutage-for = 10s\n"
      "observe = 30s\nat = 40s load 20\nbacklog = 4096\nchain = a 1x100ms\n");
  ASSERT_EQ(run.summary.graph->first, 0);
  const Statement& why = run.summary.graph->why.front();
  ASSERT_EQ(why.id, "died-queue-dead");
  const double waiting = std::get<double>(why.values[0].of);
  const double dead = std::get<double>(why.values[1].of);
  EXPECT_NEAR(waiting - dead, 100, 3 * std::sqrt(100.0));
  EXPECT_GT(dead, 1000);  // 15 s of 90/s more than it does, less those
}

}  // namespace
}  // namespace retrystorm
