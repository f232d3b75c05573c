#include "simulate/program.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

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
    for (const auto& [name, why] : unused_options(options)) {
      names.push_back(name);
    }
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
