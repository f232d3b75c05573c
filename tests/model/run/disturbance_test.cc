#include "model/run/disturbance.h"

#include "model/base/text.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using Kind = Disturbance::Kind;

TEST(Disturbance, IsReadAsItIsPrinted) {
  for (const char* text :
       {"freeze", "drop", "slow:3", "errors:0.25", "capacity:0.5", "load:2", "command", "errors:0",
        "errors:1", "errors:0.5:500", "errors:1:599", "throttle:20", "throttle:0.5", "reconnect"}) {
    EXPECT_EQ(print_disturbance(parse_disturbance(text, Engine::kReal)), text);
  }
  EXPECT_EQ(parse_disturbance("slow:3", Engine::kReal), (Disturbance{Kind::kSlow, 3}));
  EXPECT_EQ(parse_disturbance("freeze", Engine::kSimulated), Disturbance());
}

TEST(Disturbance, TakesItsValueAsPeopleWriteIt) {
  for (const auto& [text, printed] :
       {std::pair("throttle:100/s", "throttle:100"), std::pair("capacity:10%", "capacity:0.1"),
        std::pair("load:3x", "load:3"), std::pair("errors:50%:500", "errors:0.5:500")}) {
    EXPECT_EQ(print_disturbance(parse_disturbance(text, Engine::kReal)), printed);
  }
}

TEST(Disturbance, RefusesOtherText) {
  constexpr std::string_view kRefused =
      "frozen slow slow: slow:0 slow:-1 slow:nan slow:3/s slow:50% capacity:30 "
      "capacity:1.5 errors:3x throttle:50% errors:1.1 errors:-0.1 load:inf capacity:0 "
      "freeze:2 drop: Slow:3 slow:3:4 errors:0.5: errors:0.5:200 errors:0.5:600 "
      "errors:0.5:5xx errors::500 errors:0.5:500:1 throttle reconnect:2 throttle:0 "
      "throttle:20:503";
  std::vector<std::string_view> all = split(kRefused, ' ');
  all.push_back("");
  for (const std::string_view text : all) {
    EXPECT_THROW(parse_disturbance(text, Engine::kReal), std::invalid_argument) << text;
  }
  EXPECT_THAT([] { parse_disturbance("slow", Engine::kReal); },
              ::testing::ThrowsMessage<std::invalid_argument>(HasSubstr("slow:F is expected")));
}

TEST(Disturbance, HasNoCommandsInVirtualTime) {
  EXPECT_THROW(parse_disturbance("command", Engine::kSimulated), std::invalid_argument);
}

TEST(Disturbance, ComesOnTopOfOtherConditions) {
  Conditions conditions{.slow = 2, .capacity = 0.5};
  apply({Kind::kSlow, 3}, conditions);
  apply({Kind::kCapacity, 0.5}, conditions);
  apply({Kind::kErrors, 0.1}, conditions);
  EXPECT_EQ(conditions.slow, 6);
  EXPECT_EQ(conditions.capacity, 0.25);
  EXPECT_EQ(conditions.errors, 0.1);
  EXPECT_EQ(conditions.error_status, std::nullopt);
  apply({Kind::kErrors, 0.1, 500}, conditions);
  EXPECT_EQ(conditions.error_status, 500);
  EXPECT_NEAR(conditions.errors, 0.19, 1e-12) << "a tenth, and a tenth of nine tenths";
  apply({Kind::kThrottle, 20}, conditions);
  apply({Kind::kThrottle, 80}, conditions);
  EXPECT_EQ(conditions.rate_limit, 20);
  // Signals, connections and clients are handled elsewhere.
  Conditions none;
  for (const Kind each :
       {Kind::kFreeze, Kind::kDrop, Kind::kLoad, Kind::kReconnect, Kind::kCommand}) {
    apply({each, 7}, none);
  }
  EXPECT_EQ(none.slow, 1);
  EXPECT_EQ(none.capacity, 1);
  EXPECT_EQ(none.errors, 0);
  EXPECT_EQ(none.rate_limit, std::nullopt);
}

TEST(Disturbance, DoesNothingWithSomeValues) {
  for (const auto& [text, nothing] :
       {std::pair("slow:1", true), std::pair("slow:1.1", false), std::pair("errors:0", true),
        std::pair("errors:0:429", true), std::pair("errors:1", false), std::pair("load:1", true),
        std::pair("load:0.5", false), std::pair("capacity:1", true), std::pair("throttle:1", false),
        std::pair("freeze", false), std::pair("drop", false)}) {
    EXPECT_EQ(does_nothing(parse_disturbance(text, Engine::kSimulated)), nothing) << text;
  }
}

TEST(Disturbance, SaysWhatMakesIt) {
  using By = Disturbance::By;
  EXPECT_EQ(made_by({Kind::kFreeze}), By::kSignals);
  EXPECT_EQ(made_by({Kind::kCommand}), By::kCommands);
  for (const Kind each : {Kind::kLoad, Kind::kReconnect}) EXPECT_EQ(made_by({each}), By::kClients);
  for (const Kind each :
       {Kind::kDrop, Kind::kSlow, Kind::kErrors, Kind::kCapacity, Kind::kThrottle}) {
    EXPECT_EQ(made_by({each}), By::kService);
  }
}

// The rest of the limit stays as configured, except for the autoscaler: it would lift the limit.
TEST(Disturbance, ThrottlesWhateverTheConfiguredLimitIs) {
  ServiceOptions configured;
  configured.rate_limit = {
      .rate = 100, .status = 503, .autoscale = {.kind = AutoscaleKind::kOnDemand}};
  Conditions conditions;
  const ServiceOptions throttled =
      with_conditions(apply({Kind::kThrottle, 20}, conditions), configured);
  EXPECT_EQ(throttled.rate_limit.rate, 20);
  EXPECT_EQ(throttled.rate_limit.status, 503);
  EXPECT_EQ(throttled.rate_limit.autoscale.kind, AutoscaleKind::kNone);
}

}  // namespace
}  // namespace retrystorm
