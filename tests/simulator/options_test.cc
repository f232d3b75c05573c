#include "simulator/options.h"

#include <gtest/gtest.h>

#include <limits>

namespace retrystorm {
namespace {

TEST(MakeScenario, KeepsSheddingOnHoweverSmallTheScale) {
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

}  // namespace
}  // namespace retrystorm
