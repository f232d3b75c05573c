#include <CLI/CLI.hpp>

#include "client/options.h"
#include "common/cli/program.h"
#include "server/options.h"
#include "simulate/program.h"
#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

constexpr const char* kShop = R"(
[api]
workers = 32
service-time = lognormal:5ms:0.4
waiting = free
on-failure = need:1
calls = cart & price?, db*2
[cart]
workers = 16
calls = db@0.5
[price]
backlog = 7
[db]
workers = 30
[api.db]
strategy = grpc
timeout = 250ms
max-attempts = 3
)";

SimulatorOptions shop() {
  SimulatorOptions options;
  options.graph.topology = TopologyFile("shop.ini", kShop);
  options.workload.timeout = 700ms;
  return options;
}

// The command line of one service, with the URL of each other one.
std::vector<std::string> arguments(const nlohmann::ordered_json& json, const std::string& name) {
  for (const auto& each : json["services"]) {
    if (each["name"] != name) continue;
    std::vector<std::string> words = each["arguments"];
    for (std::string& word : words) {
      word = std::regex_replace(word, std::regex("@([a-z]+)@"), "http://127.0.0.1:9/$1");
    }
    return words;
  }
  throw std::runtime_error("no service " + name);
}

ServerOptions server_of(const nlohmann::ordered_json& json, const std::string& name) {
  CLI::App app;
  set_up_app(app);
  ServerOptions options;
  add_server_options(app, options);
  parse_words(app, arguments(json, name));
  return options;
}

ClientOptions client_of(const nlohmann::ordered_json& json) {
  CLI::App app;
  set_up_app(app);
  ClientOptions client;
  add_client_options(app, client);
  parse_words(app, json["arguments"]);
  return client;
}

TEST(Processes, BeginWithThoseThatCallNobody) {
  const auto json = processes_json(shop());
  std::vector<std::string> names;
  for (const auto& each : json["services"]) names.push_back(each["name"]);
  EXPECT_THAT(names, ElementsAre("db", "price", "cart", "api"));
  EXPECT_EQ(json["front"], "api");
  EXPECT_EQ(json["outage_of"], "db");
}

// What is printed means to a server what the file means to the simulator.
TEST(Processes, AreReadByTheServer) {
  const auto json = processes_json(shop());
  EXPECT_EQ(server_of(json, "price").service.backlog, 7);
  const ServerOptions api = server_of(json, "api");
  EXPECT_EQ(api.service.capacity, Capacity::kWorkers);
  EXPECT_EQ(api.service.workers.workers, 32);
  EXPECT_EQ(api.service.workers.service_time.text(), "lognormal:5ms:0.4");
  EXPECT_FALSE(api.keeps_deadlines);
  const UpstreamSettings upstream = make_upstream(api.calls);
  EXPECT_EQ(upstream.node.waiting, Waiting::kFree);
  EXPECT_EQ(upstream.node.on_failure.kind, OnFailure::Kind::kNeed);
  ASSERT_EQ(upstream.callees.size(), 3);
  EXPECT_EQ(upstream.callees[0].name, "cart");
  EXPECT_THAT(upstream.callees[0].urls, ElementsAre("http://127.0.0.1:9/cart"));
  EXPECT_EQ(upstream.callees[0].edge.caller.timeout, 700ms);
  const GraphEdge& db = upstream.callees[2].edge;
  EXPECT_EQ(db.caller.timeout, 250ms);
  EXPECT_EQ(db.caller.retry.strategy, "grpc");
  EXPECT_EQ(db.caller.retry.limit.max_retries, 2);
  EXPECT_EQ(upstream.node.calls[1].front().times, 2);
  EXPECT_EQ(make_upstream(server_of(json, "cart").calls).node.calls[0].front().share, 0.5);
}

TEST(Processes, SayNothingOfCallsByDefault) {
  SimulatorOptions options = shop();
  options.workload.timeout = WorkloadOptions().timeout;
  const ServerOptions cart = server_of(processes_json(options), "cart");
  EXPECT_EQ(cart.calls.to, "");
  EXPECT_EQ(make_upstream(cart.calls).callees.size(), 1);
}

TEST(Processes, HaveTheClientsOptions) {
  SimulatorOptions options = shop();
  options.graph.deadline = DeadlinePropagation::kAttempt;
  options.workload.clients = 400;
  const auto json = processes_json(options);
  ASSERT_EQ(json["clients"].size(), 1);
  const ClientOptions client = client_of(json["clients"][0]);
  EXPECT_EQ(client.workload.clients, 400);
  EXPECT_EQ(client.workload.timeout, 700ms);
  EXPECT_EQ(client.deadline, DeadlinePropagation::kAttempt);
  check(client);
  EXPECT_TRUE(server_of(json, "db").keeps_deadlines);
}

TEST(Processes, RefuseWhatTheyCannotDo) {
  const auto refused = [](const auto& change) {
    SimulatorOptions options = shop();
    change(options);
    return test::refusal_of([&] { processes_json(options); });
  };
  EXPECT_THAT(refused([](auto& options) { options.timeline.faults.emplace_back(); }),
              HasSubstr("--fault"));
  EXPECT_THAT(refused([](auto& options) { options.scale = 2; }), HasSubstr("--scale"));
}

// Each host is a process of its own. How one is picked is said to those who call them.
TEST(Processes, AreAsManyAsTheHosts) {
  SimulatorOptions options;
  const auto set = [&options](const char* name, const char* value) {
    OptionList list;
    declare_options(list, options);
    list.set(name, value);
  };
  for (const auto& [name, value] : {std::pair("chain", "api 2*32x5ms > db 3*8x40ms"),
                                    {"balance", "least"},
                                    {"eject", "3:20s:0.5"},
                                    {"outage-replicas", "2"}}) {
    set(name, value);
  }
  const auto json = processes_json(options);
  EXPECT_EQ(json["outage_hosts"], 2);
  EXPECT_EQ(json["services"][0]["hosts"], 3);
  EXPECT_EQ(json["services"][1]["hosts"], 2);
  const UpstreamSettings upstream = make_upstream(server_of(json, "api").calls);
  EXPECT_EQ(upstream.callees[0].hosts.balance, Balance::kLeast);
  EXPECT_EQ(to_string(upstream.callees[0].hosts.eject), "3:20s:0.5");
  const HostSettings front = client_of(json["clients"][0]).hosts;
  EXPECT_EQ(front.balance, Balance::kLeast);
  EXPECT_EQ(front.outage_replicas, HostSettings::kAll);  // the outage is of the other service
  for (const auto& [name, value, why] :
       {std::tuple("outage", "slow:3", "--outage=slow:3"),
        std::tuple("host-start", "5s", "the hosts of real programs")}) {
    SimulatorOptions wrong = options;
    OptionList list;
    declare_options(list, wrong);
    list.set(name, value);
    EXPECT_THAT(test::refusal_of([&] { processes_json(wrong); }), HasSubstr(why));
  }
}

// One of them makes the outage. The others count the same one, and change the load as it does.
TEST(Processes, HaveAClientForEachKind) {
  SimulatorOptions options;
  options.graph.topology = TopologyFile(
      "shop.ini",
      "[api]\n[clients.app]\narrivals = open\nrate = 7\n[clients.batch]\nclients = 3\ntimeout = 9s\n");
  options.workload.seed = 5;
  options.outage_for = 20s;
  options.timeline.at = {{.t = 10s, .action = parse_action("restart")},
                         {.t = 20s, .action = parse_action("load 2")}};
  const auto json = processes_json(options)["clients"];
  ASSERT_EQ(json.size(), 2);
  EXPECT_EQ(json[1]["name"], "batch");
  const ClientOptions app = client_of(json[0]), batch = client_of(json[1]);
  EXPECT_EQ(app.workload.rate, 7);
  EXPECT_EQ(batch.workload.clients, 3);
  EXPECT_EQ(batch.workload.timeout, 9s);
  EXPECT_NE(app.workload.seed, batch.workload.seed);
  EXPECT_EQ(app.timeline.outage.kind, Disturbance::Kind::kFreeze);
  EXPECT_EQ(app.timeline.at.size(), 2);
  EXPECT_EQ(batch.timeline.outage.kind, Disturbance::Kind::kCommand);
  ASSERT_EQ(batch.timeline.at.size(), 1);
  EXPECT_EQ(batch.timeline.at[0].t, 20s);
  options.outage_for = 0s;
  const ClientOptions calm = client_of(processes_json(options)["clients"][1]);
  EXPECT_EQ(calm.timeline.outage, Disturbance());
  options.expectations.emplace_back().text = "recovered";
  EXPECT_THAT(test::refusal_of([&] { processes_json(options); }), HasSubstr("--expect"));
}

TEST(MakeScenario, KeepsSheddingAtAnyScale) {
  SimulatorOptions options;
  options.service.shed_above = 40;
  options.scale = 0.01;
  EXPECT_EQ(make_scenario(options, 1).service.shed_above, 1);
  options.service.shed_above = 0;
  EXPECT_EQ(make_scenario(options, 1).service.shed_above, 0);
}

TEST(MakeScenario, LimitsConnectionsTheSameOnEveryMachine) {
  SimulatorOptions options;
  EXPECT_EQ(make_scenario(options, 1).service.max_connections, 20'000);
  options.scale = 10;
  EXPECT_EQ(make_scenario(options, 1).service.max_connections, 200'000);
  options.service.max_connections = 0;  // none
  EXPECT_EQ(make_scenario(options, 1).service.max_connections,
            std::numeric_limits<std::size_t>::max());
}

TEST(FindUnused, KnowsWhichFeaturesOutagesAndActionsTurnOn) {
  SimulatorOptions options;
  OptionList list;
  declare_options(list, options);
  list.set("error-after", "service");
  list.set("hint-for", "5s");
  const auto unused = [&options] {
    std::vector<std::string> names;
    for (const auto& [name, why] : unused_options(options)) names.push_back(name);
    return names;
  };
  EXPECT_THAT(unused(), ElementsAre("error-after", "hint-for"));
  list.set("outage", "errors:0.5");
  EXPECT_THAT(unused(), ElementsAre("hint-for"));
  list.set("at", "60s set hint=fixed; 70s set shed-above=100");
  EXPECT_THAT(unused(), ElementsAre());
  list.set("outage-for", "0s");
  EXPECT_THAT(unused(), ElementsAre("error-after", "outage"));
  list.set("at", "60s set error-share=0.1");
  EXPECT_THAT(unused(), ElementsAre("hint-for", "outage"));
  // An impossible action turns on nothing.
  list.set("at", "60s set error-share=none");
  EXPECT_THAT(unused(), ElementsAre("error-after", "hint-for", "outage"));
}

}  // namespace
}  // namespace retrystorm
