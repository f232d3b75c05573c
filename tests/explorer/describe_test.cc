#include <CLI/CLI.hpp>

#include "common/cli/options.h"
#include "common/cli/program.h"
#include "explorer/engine/engine.h"
#include "model/retry/strategies.h"
#include "simulate/program.h"
#include "simulator/scenario_options.h"
#include "study/named_options.h"
#include "tests/support/given.h"
#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// Splits a command into words as a shell does.
std::vector<std::string> words_of(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  bool any = false, quoted = false;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == '\'') {
      quoted = !quoted;
      any = true;
    } else if (c == '\\' && !quoted) {
      word += command[++i];
    } else if (c == ' ' && !quoted) {
      if (any) words.push_back(std::move(word));
      word.clear();
      any = false;
    } else {
      word += c;
      any = true;
    }
  }
  if (any) words.push_back(std::move(word));
  return words;
}

// The options that the simulator's own command line reads from a command. Throws if it refuses it.
struct Parsed {
  SimulatorOptions options;
  CLI::App app;

  explicit Parsed(const std::string& command) {
    set_up_app(app);
    add_simulator_options(app, options);
    auto words = words_of(command);
    EXPECT_EQ(words.at(0), "build/bin/simulate");
    words.erase(words.begin());
    parse_words(app, words);
    check(options);
  }
};

std::map<std::string, std::string> values_in_force(ScenarioOptions scenario) {
  OptionList list;
  declare_options(list, scenario);
  std::map<std::string, std::string> values;
  for (const Option& option : list.all()) values[option.name] = option.get();
  values.erase("seed");
  values.erase("topology");  // a file, which the page does not have
  return values;
}

// The simulator takes the command of a setting. It means the same: all options in force, except those
// without effect.
void expect_same_command(const NamedOptions& given) {
  const Json description = describe(given, 7);
  ASSERT_TRUE(description["errors"].empty()) << description.dump();
  SCOPED_TRACE(description["command"].get<std::string>());
  const Parsed parsed(description["command"].get<std::string>());
  EXPECT_EQ(parsed.options.workload.seed, 7);
  auto ours = description["values"].get<std::map<std::string, std::string>>();
  auto theirs = values_in_force(parsed.options);
  ours.erase("seed");
  std::erase_if(ours, [](const auto& each) { return each.first.find('.') != std::string::npos; });
  for (const auto& [name, why] : description["unused"].items()) {
    ours.erase(name);
    theirs.erase(name);
  }
  EXPECT_EQ(ours, theirs);
}

TEST(ReadGiven, TakesTextsByNames) {
  EXPECT_EQ(read_given(Json::parse(R"({"clients": "5", "strategy": "fixed"})")),
            (NamedOptions{{"clients", "5"}, {"strategy", "fixed"}}));
  EXPECT_THAT([] { read_given(Json::parse(R"({"clients": 5})")); },
              ThrowsMessage<std::invalid_argument>("clients is no text"));
  EXPECT_THAT([] { read_given(Json::parse("[]")); },
              ThrowsMessage<std::invalid_argument>("options are {NAME: TEXT}"));
}

TEST(Look, HasTheValuesInForceAndTheDefaults) {
  const Json description =
      describe(test::given("strategy=exponential, growth=linear, clients=1000"), 1);
  EXPECT_EQ(description["values"]["strategy"], "exponential");
  EXPECT_EQ(description["values"]["growth"], "linear");
  EXPECT_EQ(description["values"]["timeout"], "2s");
  // Its default is the strategy's value, not the program's.
  EXPECT_EQ(description["defaults"]["growth"], "exponential");
  EXPECT_EQ(description["defaults"]["strategy"], "fixed");
  EXPECT_EQ(description["defaults"]["clients"], "1000");
  EXPECT_EQ(description["defaults"].size(), 3);
  EXPECT_TRUE(description["errors"].empty());
  EXPECT_EQ(description["command"],
            "build/bin/simulate --strategy=exponential --growth=linear --seed=1");
}

TEST(Look, HasTheTitleOfTheRetries) {
  const auto title = [](const NamedOptions& given) { return describe(given, 1)["retries"]; };
  EXPECT_EQ(title({{"strategy", "exponential"}}), "exponential retries");
  EXPECT_EQ(title(test::given("growth=exponential, backoff-base=500ms, backoff-factor=2, "
                              "max-attempts=3")),
            "exponential from 500ms x 2, 2 retries");
}

TEST(Look, NamesOptionsWithoutEffect) {
  const Json description = describe(test::given("service=curve, workers=5, time-limit=1h"), 1);
  EXPECT_THAT(description["unused"]["workers"].get<std::string>(),
              HasSubstr("workers has no effect"));
  EXPECT_EQ(description["unused"]["time-limit"], "time-limit has no effect without --arrivals=job");
  EXPECT_EQ(description["command"], "build/bin/simulate --service=curve --seed=1");
  EXPECT_TRUE(describe({{"workers", "5"}}, 1)["unused"].empty());
}

TEST(Look, LeavesOutRefusedOptionsAndSaysWhy) {
  const Json description = describe(test::given("clients=none, limit=40, timeout=0s, what=5"), 1);
  EXPECT_EQ(description["values"]["clients"], "1000");
  EXPECT_EQ(description["values"]["limit"], "40");
  EXPECT_EQ(description["errors"]["clients"],
            "clients: 'none' is not a whole number from 1 to 1000000000");
  EXPECT_THAT(description["errors"]["timeout"].get<std::string>(),
              HasSubstr("is too short (at least 1ms"));
  EXPECT_THAT(description["errors"]["what"].get<std::string>(),
              HasSubstr("there is no option 'what'"));
  EXPECT_EQ(description["errors"].size(), 3);
  EXPECT_EQ(description["command"], "build/bin/simulate --limit=40 --seed=1");
}

TEST(Look, ReportsProblemsOfSeveralOptionsTogether) {
  const Json description = describe({{"at", "60s set no-such=1"}}, 1);
  ASSERT_EQ(description["errors"].size(), 1) << description["errors"];
  EXPECT_THAT(description["errors"].begin().value().get<std::string>(), HasSubstr("no-such"));
}

// The page refuses the same options as the command line, with the same message.
TEST(Look, RefusesTheSameAsTheCommandLine) {
  for (const std::string given :
       {"clients=-1", "outage=slow:0", "outage=earthquake", "at=60s explode", "at=restart",
        "capacity=soon 2", "backoff-table=1+x", "jitter=loud", "service-time=normal:1s",
        "queue-drop=codel:5ms", "retry-on=5yy", "concurrency-limit=vegas", "rate-burst=-3",
        "scale=1e9", "lambda=1e3s", "error-share=1.01"}) {
    const std::string name = given.substr(0, given.find('=')),
                      value = given.substr(name.size() + 1);
    const Json description = describe({{name, value}}, 1);
    ASSERT_TRUE(description["errors"].contains(name)) << name << '=' << value;
    const std::string ours = description["errors"][name];
    test::expect_refusals<std::string, CLI::ParseError>(
        [](const std::string& command) { Parsed parsed(command); },
        {{"build/bin/simulate --" + name + "='" + value + "'", ours.substr(name.size() + 2)}});
  }
}

TEST(Look, HasACommandThatMeansTheSame) {
  expect_same_command({});
  expect_same_command({{"strategy", "exponential"}, {"clients", "2000"}});
  expect_same_command(test::given("strategy=responsive, pacer=no, max-interval=1m"));
  expect_same_command(
      test::given("rate=100, first-at-once=yes"));  // the default implies open arrivals
  expect_same_command({{"outage", "slow:3"}, {"outage-for", "0s"}});
  expect_same_command({{"outage-for", "30s"}, {"outage", "capacity:0.3"}});
  expect_same_command(
      {{"at", "60s set shed-above=200; 70s load 0.5"}, {"capacity", "50s 0.3; 60s..90s 1"}});
  expect_same_command(test::given("arrivals=job, outage-for=20s, rate-limit=100"));
  expect_same_command({{"max-attempts", "4"}, {"random", "1s"}});
  expect_same_command(test::given("retry-budget=grpc, budget-tokens=10, budget-deposit=1"));
  expect_same_command(test::given("retry-on=429+503+transport, queue-drop=codel, service=workers"));
}

TEST(Look, HasACommandThatMeansTheSameForAnySetting) {
  ScenarioOptions scenario;
  OptionList list;
  declare_options(list, scenario);
  std::vector<std::pair<std::string, std::vector<std::string>>> knobs;
  for (const Option& option : list.all()) {
    if (option.name == "seed") continue;
    std::vector<std::string> texts = domain(option, option.get());
    texts.insert(texts.end(), option.choices.begin(), option.choices.end());
    texts.insert(texts.end(), option.examples.begin(), option.examples.end());
    if (option.name == "strategy")
      texts = {"exponential", "truncated", "go-retryablehttp", "polly"};
    if (!texts.empty()) knobs.emplace_back(option.name, std::move(texts));
  }
  std::mt19937 random(1);
  const auto any = [&random](const auto& among) -> const auto& {
    return among[random() % among.size()];
  };
  int tried = 0;
  for (int i = 0; i < 60; ++i) {
    NamedOptions given;
    for (unsigned n = 1 + random() % 8; n > 0; --n) {
      const auto& [name, texts] = any(knobs);
      given[name] = any(texts);
    }
    if (!describe(given, 7)["errors"].empty()) continue;
    ++tried;
    expect_same_command(given);
  }
  EXPECT_GE(tried, 30);
}

TEST(Look, ShowsHowToRunItWithTheRealPrograms) {
  const Json description = describe(test::given("strategy=exponential, limit=40, scale=2"), 3);
  EXPECT_THAT(description["real"]["lines"].get<std::vector<std::string>>(),
              ElementsAre("cmake --preset release && cmake --build --preset release",
                          "build/bin/server --limit=40 >server.log & sleep 1",
                          "build/bin/client --strategy=exponential --seed=3 --outage-at=30s "
                          "--outage-for=20s --server-pid=$! --duration=1m50s; kill $!"));
  EXPECT_THAT(description["real"]["without"].get<std::vector<std::string>>(), ElementsAre("scale"));
}

TEST(Look, GivesTheRealClientTheTokenIfItSendsOrders) {
  const Json description = describe(test::given("outage=slow:3, outage-for=10s, observe=30s"), 1);
  EXPECT_THAT(description["real"]["lines"].get<std::vector<std::string>>(),
              ElementsAre("cmake --preset release && cmake --build --preset release",
                          "build/bin/server --admin-token-file=token >server.log & sleep 1",
                          "build/bin/client --outage=slow:3 --admin-token-file=token --seed=1 "
                          "--outage-at=30s --outage-for=10s --duration=1m10s; kill $!"));
  const Json job = describe({{"arrivals", "job"}}, 1);
  EXPECT_EQ(job["real"]["lines"][2], "build/bin/client --arrivals=job --seed=1; kill $!");
}

TEST(Look, HasTheKnobsOfEachServiceOfAChain) {
  const Json description =
      describe(test::given("chain=api 32x5ms >200ms db 8x40ms, strategy=grpc, max-retries=2, "
                           "backlog=64"),
               1);
  EXPECT_TRUE(description["errors"].empty()) << description["errors"];
  EXPECT_EQ(description["services"].dump(),
            R"({"nodes":["api","db"],"edges":[["api","db"]],"kinds":[]})");
  const Json& values = description["values"];
  EXPECT_EQ(values["api.workers"], "32");
  EXPECT_EQ(values["api.calls"], "db");
  EXPECT_EQ(values["db.service-time"], "fixed:40ms");
  EXPECT_EQ(values["db.backlog"], "64");
  EXPECT_EQ(values["api.db.timeout"], "200ms");
  EXPECT_EQ(values["api.db.max-retries"], "2");
  EXPECT_TRUE(description["real"].is_null());
  expect_same_command({{"chain", "api 32x5ms"}, {"waiting", "free"}});
  EXPECT_TRUE(describe({}, 1)["services"].is_null());
}

TEST(Look, MakesAFileOfServicesThatHaveOptions) {
  const Json description =
      describe(test::given("chain=api 32x5ms >200ms db 8x40ms, db.queue-length=50, "
                           "api.db.max-attempts=2, backlog=64"),
               1);
  EXPECT_TRUE(description["errors"].empty()) << description["errors"];
  EXPECT_EQ(description["values"]["db.queue-length"], "50");
  EXPECT_EQ(description["defaults"]["db.queue-length"], "none");
  EXPECT_EQ(description["values"]["db.workers"], "8");
  EXPECT_EQ(description["values"]["api.db.timeout"], "200ms");
  EXPECT_EQ(description["command"],
            "cat >services.ini <<'END'\n"
            "[api]\ncalls = db\nservice-time = fixed:5ms\nworkers = 32\n"
            "[db]\nqueue-length = 50\nservice-time = fixed:40ms\nworkers = 8\n"
            "[api.db]\nmax-attempts = 2\ntimeout = 200ms\n"
            "END\nbuild/bin/simulate --topology=services.ini --backlog=64 --seed=1");
}

TEST(Look, FindsTheServiceThatNobodyCallsWhateverTheirOrderIs) {
  const Json description =
      describe({{"web.calls", "cart & price?, db*2, shard&3"}, {"cart.calls", "db@0.5"}}, 1);
  EXPECT_TRUE(description["errors"].empty()) << description["errors"];
  EXPECT_EQ(description["services"]["nodes"][0], "web");
  EXPECT_EQ(description["services"]["nodes"].size(), 5);
  EXPECT_EQ(description["services"]["edges"].size(), 5);
  EXPECT_EQ(description["values"]["web.calls"], "cart & price?, db*2, shard&3");
  EXPECT_EQ(description["values"]["cart.calls"], "db@0.5");
}

TEST(Look, NamesTheOptionOfAServiceThatIsWrong) {
  using Errors = std::map<std::string, std::string>;
  const auto errors = [](const NamedOptions& given) {
    return describe(given, 1)["errors"].get<Errors>();
  };
  const auto is = [](const std::string& name, const std::string& why) {
    return Errors{{name, name + ": " + why}};
  };
  Errors both = is("api.workers", "'0' is not a whole number from 1 to 1000000000");
  both.merge(is("db.backlog", "'x' is not a whole number from 0 to 1000000000"));
  EXPECT_EQ(errors(test::given("api.workers=0, db.backlog=x, api.calls=db")), both);
  EXPECT_EQ(errors({{"api.wrkers", "1"}}),
            is("api.wrkers", "'wrkers' is no option of a service (did you mean workers?)"));
  EXPECT_EQ(errors({{"chain", "api 32x5ms > api 1x1s"}, {"api.workers", "2"}}),
            is("chain", "service 2: api is in the chain already: a circle has no end"));
  EXPECT_EQ(errors({{"a.calls", "b"}, {"b.calls", "a"}}),
            is("a.calls", "a > b > a: a circle has no end"));
  EXPECT_EQ(errors({{"a.calls", "c"}, {"b.workers", "3"}}),
            is("b.workers", "nobody calls b. The clients call a, the first section"));
  EXPECT_EQ(errors({{"a.b.timeout", "1s"}, {"a.calls", "c"}}),
            is("a.b.timeout", "a does not call b: its line calls = ... does not name it"));
  // What would be more than a line of a file.
  for (const char* text : {"2\n[evil]", "2 ; x", "2 # x", "\"2\"", " 2"}) {
    EXPECT_THAT(errors({{"a.workers", text}, {"a.calls", "b"}})["a.workers"],
                HasSubstr("is no value of an option"))
        << text;
  }
  for (const char* name : {"a]\n[b.workers", "a b.workers", "a'.workers"}) {
    EXPECT_THROW(errors({{name, "2"}}), std::invalid_argument) << name;
  }
  for (const char* name : {".workers", "a.", "..", "a.b.c.timeout", "clients.b.timeout"}) {
    EXPECT_FALSE(errors({{name, "2"}}).empty()) << name;
  }
}

TEST(Catalogue, HasEveryOptionOnceWithItsPart) {
  const auto json = catalogue();
  std::vector<std::string> names, expected;
  std::set<std::string> parts;
  for (const auto& option : json["options"]) {
    names.push_back(option["name"]);
    parts.insert(option["part"].get<std::string>());
    EXPECT_FALSE(option["help"].get<std::string>().empty()) << option["name"];
  }
  ScenarioOptions scenario;
  OptionList list;
  declare_options(list, scenario);
  for (const Option& option : list.all()) {
    if (option.name != "seed" && option.name != "topology") expected.push_back(option.name);
  }
  EXPECT_EQ(names, expected);
  EXPECT_EQ(parts, (std::set<std::string>{"clients", "service", "outage", "services"}));
  const auto part_of = [&json](const std::string& name) {
    for (const auto& option : json["options"]) {
      if (option["name"] == name) return option["part"].get<std::string>();
    }
    return std::string();
  };
  for (const auto& [name, part] :
       {std::pair("strategy", "clients"), std::pair("clients", "clients"),
        std::pair("queue-order", "service"), std::pair("rate-limit", "service"),
        std::pair("balance", "service"), std::pair("outage-replicas", "outage"),
        std::pair("outage", "outage"), std::pair("outage-for", "outage"),
        std::pair("at", "outage")}) {
    EXPECT_EQ(part_of(name), part) << name;
  }
}

TEST(Catalogue, HasTheOptionsOfOneService) {
  const auto json = catalogue();
  std::set<std::string> all, own;
  for (const auto& option : json["options"]) all.insert(option["name"].get<std::string>());
  for (const auto& option : json["of_one_service"]) own.insert(option["name"].get<std::string>());
  EXPECT_EQ(own, (std::set<std::string>{"calls", "waiting", "own-work", "on-failure", "retry-scope",
                                        "upstream-failure"}));
  const auto has = [&](const char* list, const std::string& name) {
    const auto names = json[list].get<std::set<std::string>>();
    return names.contains(name);
  };
  EXPECT_TRUE(has("node", "workers") && has("node", "calls") && !has("node", "strategy"));
  EXPECT_TRUE(has("edge", "strategy") && has("edge", "timeout") && !has("edge", "workers"));
  for (const char* list : {"node", "edge"}) {
    for (const std::string name : json[list]) EXPECT_TRUE(all.contains(name) || own.contains(name));
  }
}

TEST(Catalogue, HasTheNamedStrategiesWithTheirSources) {
  const auto json = catalogue();
  ASSERT_EQ(json["strategies"].size(), named_strategies().size());
  for (std::size_t i = 0; i < named_strategies().size(); ++i) {
    EXPECT_EQ(json["strategies"][i]["name"], named_strategies()[i].name);
    EXPECT_EQ(json["strategies"][i]["source"], named_strategies()[i].source);
    EXPECT_FALSE(json["strategies"][i]["summary"].get<std::string>().empty());
  }
}

TEST(Catalogue, HasNoBoundIfThereIsNone) {
  const auto known = catalogue();
  for (const auto& option : known["options"]) {
    if (option["name"] == "outage-at") {
      EXPECT_TRUE(option["most"].is_null());
    }
    if (option["name"] == "error-share") {
      EXPECT_EQ(option["least"], 0);
      EXPECT_EQ(option["most"], 1);
      EXPECT_EQ(option["takes_none"], false);
    }
    EXPECT_EQ(option.contains("stops"), option.contains("least")) << option["name"];
  }
}

}  // namespace
}  // namespace retrystorm
