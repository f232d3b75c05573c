#include "explorer/engine/engine.h"
#include "model/retry/strategies.h"
#include "simulator/scenario_options.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

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
  EXPECT_EQ(part_of("strategy"), "clients");
  EXPECT_EQ(part_of("clients"), "clients");
  EXPECT_EQ(part_of("queue-order"), "service");
  EXPECT_EQ(part_of("rate-limit"), "service");
  EXPECT_EQ(part_of("balance"), "service");
  EXPECT_EQ(part_of("outage-replicas"), "outage");
  EXPECT_EQ(part_of("outage"), "outage");
  EXPECT_EQ(part_of("outage-for"), "outage");
  EXPECT_EQ(part_of("at"), "outage");
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
