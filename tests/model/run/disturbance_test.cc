#include "model/run/disturbance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace retrystorm {
namespace {

using ::testing::HasSubstr;
using Kind = Disturbance::Kind;

TEST(Disturbance, IsReadAsItIsPrinted) {
  for (const char* text : {"freeze", "drop", "slow:3", "errors:0.25", "capacity:0.5", "load:2",
                           "command", "errors:0", "errors:1"}) {
    EXPECT_EQ(print_disturbance(parse_disturbance(text, Engine::kReal)), text);
  }
  EXPECT_EQ(parse_disturbance("slow:3", Engine::kReal), (Disturbance{Kind::kSlow, 3}));
  EXPECT_EQ(parse_disturbance("freeze", Engine::kSimulated), Disturbance());
}

TEST(Disturbance, RefusesWhatIsNone) {
  for (const char* text :
       {"", "frozen", "slow", "slow:", "slow:0", "slow:-1", "slow:nan", "slow:3x", "errors:1.1",
        "errors:-0.1", "load:inf", "capacity:0", "freeze:2", "drop:", "Slow:3", "slow:3:4"}) {
    EXPECT_THROW(parse_disturbance(text, Engine::kReal), std::invalid_argument) << text;
  }
  EXPECT_THAT([] { parse_disturbance("slow", Engine::kReal); },
              ::testing::ThrowsMessage<std::invalid_argument>(HasSubstr("slow:F is meant")));
}

TEST(Disturbance, HasNoCommandsInVirtualTime) {
  EXPECT_THROW(parse_disturbance("command", Engine::kSimulated), std::invalid_argument);
}

TEST(Disturbance, ComesOnTopOfWhatIsTheMatterAnyway) {
  Conditions conditions{.slow = 2, .capacity = 0.5};
  impose({Kind::kSlow, 3}, conditions);
  impose({Kind::kCapacity, 0.5}, conditions);
  impose({Kind::kErrors, 0.1}, conditions);
  EXPECT_EQ(conditions.slow, 6);
  EXPECT_EQ(conditions.capacity, 0.25);
  EXPECT_EQ(conditions.errors, 0.1);
  // Signals, connections and clients are others' affair.
  Conditions none;
  for (const Kind each : {Kind::kFreeze, Kind::kDrop, Kind::kLoad, Kind::kCommand}) {
    impose({each, 7}, none);
  }
  EXPECT_EQ(none.slow, 1);
  EXPECT_EQ(none.capacity, 1);
  EXPECT_EQ(none.errors, std::nullopt);
}

}  // namespace
}  // namespace retrystorm
