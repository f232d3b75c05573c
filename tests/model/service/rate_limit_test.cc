#include "model/service/rate_limit.h"

#include "model/service/service_options.h"
#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

constexpr TimePoint kOpened{1h};

RateLimitSettings with_burst(double rate, Duration unused) {
  return {.rate = rate, .burst = {.unused = unused}};
}

// 100 a second, idle for five minutes: 30,000 at once.
TEST(RateLimit, SavesUnusedCapacity) {
  RateLimit limit(with_burst(100, 300s), kOpened);
  int taken = 0;
  while (!limit.take(kOpened + 5min)) ++taken;
  EXPECT_EQ(taken, 30'000);
  EXPECT_EQ(limit.take(kOpened + 5min), 10ms);
}

// Nothing was unused before the start, so there is the capacity of one second.
TEST(RateLimit, StartsWithoutSavedCapacity) {
  RateLimit limit(with_burst(100, 300s), kOpened);
  int taken = 0;
  while (!limit.take(kOpened)) ++taken;
  EXPECT_EQ(taken, 100);
  EXPECT_EQ(limit.use(kOpened).used, 100u);
}

// If the engine comes late, the result is the same as if it had always been in time.
TEST(RateLimit, ChangesAtItsOwnTimes) {
  RateLimitSettings settings = with_burst(100, 300s);
  settings.autoscale.kind = AutoscaleKind::kTargetTracking;
  RateLimit limit(settings, kOpened);
  EXPECT_EQ(limit.next_event(), kOpened + 1min);
  limit.advance(kOpened + 1h);  // from the sixteenth minute on there is 1 a second
  EXPECT_EQ(limit.rate(), 1);
  EXPECT_NEAR(limit.use(kOpened + 1h).provided, 16 * 60 * 100 + 44 * 60, 1e-3);
  EXPECT_EQ(limit.next_event(), kOpened + 61min);
}

TEST(RateLimit, TakesNewSettingsAndKeepsItsTokens) {
  RateLimit limit({.rate = 10, .burst = {.requests = 5}}, kOpened);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limit.take(kOpened), std::nullopt);
  limit.configure(kOpened, {.rate = 20, .burst = {.requests = 100}});
  EXPECT_EQ(limit.take(kOpened), std::nullopt);
  EXPECT_EQ(limit.take(kOpened), std::nullopt);
  EXPECT_EQ(limit.take(kOpened), 50ms);
  limit.configure(kOpened + 1s, {});
  EXPECT_FALSE(limit.on());
  EXPECT_NEAR(limit.use(kOpened + 2s).provided, 20, 1e-9);
}

TEST(RateLimit, ReadsABurstOfRequestsOrOfTime) {
  EXPECT_EQ(parse_rate_burst("30"), (RateBurst{.requests = 30}));
  EXPECT_EQ(parse_rate_burst("1e3"), (RateBurst{.requests = 1000}));
  EXPECT_EQ(parse_rate_burst("300s"), (RateBurst{.unused = 300s}));
  for (const char* each : {"30", "5m0s", "0", "0s"}) {
    EXPECT_EQ(to_string(parse_rate_burst(each)), each);
  }
  for (const char* each : {"", "s", "-5s", "-1", "many", "nan", "inf", "5 x", "5x", "1e10"}) {
    EXPECT_THROW(parse_rate_burst(each), std::invalid_argument) << each;
  }
}

TEST(RateLimit, RefusesBoundsThatDoNotContainIt) {
  const auto expect = [](AutoscaleKind kind, double most,
                         const std::vector<std::pair<double, std::string>>& rows) {
    const AutoscaleSettings settings{.kind = kind, .least = 50, .most = most};
    test::expect_refusals<double>([&](double rate) { check(settings, rate); }, rows);
  };
  expect(AutoscaleKind::kTargetTracking, 200,
         {{100, ""},
          {30, "rate-limit 30 is not between autoscale-least"},
          {300, "rate-limit 300 is not between autoscale-least"}});
  expect(AutoscaleKind::kTargetTracking, 10,
         {{100, "autoscale-most is less than autoscale-least"}});
  expect(AutoscaleKind::kNone, 10, {{100, ""}});
}

TEST(RateLimit, KnowsItsUnusedOptions) {
  const auto unused = [](const RateLimitSettings& settings) {
    std::string all;
    for (const auto& [name, why] : unused_of_part(ServiceOptions{.rate_limit = settings})) {
      all += why + '\n';
    }
    return all;
  };
  EXPECT_EQ(unused({}), "");
  EXPECT_EQ(unused({.burst = {.unused = 5min}}), "rate-burst has no effect without --rate-limit\n");
  EXPECT_EQ(unused({.status = 400}), "throttle-status has no effect without --rate-limit\n");
  RateLimitSettings settings{.rate = 5, .status = 400};
  EXPECT_EQ(unused(settings), "");
  settings.autoscale.out_after = 1s;
  settings.autoscale.doubling = 1s;
  EXPECT_EQ(unused(settings),
            "autoscale-doubling has no effect without --autoscale\n"
            "autoscale-out-after has no effect without --autoscale\n");
  settings.autoscale.kind = AutoscaleKind::kOnDemand;
  EXPECT_EQ(unused(settings),
            "autoscale-out-after has no effect without --autoscale=target-tracking\n");
  settings.autoscale.kind = AutoscaleKind::kTargetTracking;
  EXPECT_EQ(unused(settings), "autoscale-doubling has no effect without --autoscale=on-demand\n");
  settings.rate = 0;
  EXPECT_TRUE(unused(settings).starts_with("autoscale has no effect without --rate-limit\n"));
}

}  // namespace
}  // namespace retrystorm
