#include "model/service/service_options.h"
#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

TEST(Conditions, ChangeNothingByDefault) {
  const ServiceOptions options = with_conditions({}, {.base_delay = 123ms, .limit = 7, .k = 3});
  EXPECT_EQ(options.base_delay, 123ms);
  EXPECT_EQ(options.limit, 7u);
  EXPECT_EQ(options.k, 3);
  EXPECT_EQ(options.errors.share, 0);
}

TEST(Conditions, LessCapacityIsTheSameDelayAtLessConcurrency) {
  const ServiceOptions configured;
  const ServiceCurve whole = configured.curve();
  const ServiceCurve half = with_conditions({.capacity = 0.5}, configured).curve();
  for (const std::size_t c : {10u, 30u, 60u, 300u, 1000u}) {
    EXPECT_NEAR(to_seconds(half.delay(c)), to_seconds(whole.delay(2 * c)), 1e-8) << c;
  }
}

TEST(Conditions, SlownessMultipliesTheTime) {
  const ServiceOptions configured;
  const ServiceCurve slow = with_conditions({.slow = 3}, configured).curve();
  for (const std::size_t c : {10u, 300u, 1000u}) {
    EXPECT_NEAR(to_seconds(slow.delay(c)), 3 * to_seconds(configured.curve().delay(c)), 1e-8);
  }
}

// Of 100 requests, 50 fail by themselves, and of the other 50 a fifth: 10.
TEST(Conditions, ErrorsAreIndependentOfTheConfiguredOnes) {
  const auto share = [](double configured, double errors) {
    return with_conditions({.errors = errors}, {.errors = {.share = configured}}).errors.share;
  };
  EXPECT_NEAR(share(0.5, 0.2), 0.6, 1e-12);
  EXPECT_NEAR(share(0.2, 0.5), 0.6, 1e-12);
  EXPECT_EQ(share(0.7, 1), 1);
  EXPECT_EQ(share(0.3, 0), 0.3) << "to the bit";
  EXPECT_EQ(share(0, 0.3), 0.3) << "to the bit";
}

TEST(Conditions, TheLeastLimitHolds) {
  const auto limit = [](double configured, double throttle) {
    return with_conditions({.rate_limit = throttle}, {.rate_limit = {.rate = configured}})
        .rate_limit.rate;
  };
  EXPECT_EQ(limit(0, 200), 200) << "no limit is configured";
  EXPECT_EQ(limit(120, 200), 120);
  EXPECT_EQ(limit(120, 80), 80);
}

TEST(ChangedOption, IsSetByAnyOfItsNames) {
  ServiceOptions options;
  change_option(options, "shed-above", "200", Engine::kReal);
  change_option(options, "baseDelay", "50ms", Engine::kReal);
  change_option(options, "curve-factor", "2", Engine::kSimulated);
  EXPECT_EQ(options.shed_above, 200u);
  EXPECT_EQ(options.base_delay, 50ms);
  EXPECT_EQ(options.factor, 2);
}

TEST(ChangedOption, IsRefusedInOneLine) {
  ServiceOptions options;
  using NameAndValue = std::pair<const char*, const char*>;
  test::expect_refusals<NameAndValue>(
      [&options](const NameAndValue& given) {
        change_option(options, given.first, given.second, Engine::kReal);
      },
      {{{"shed-abov", "2"}, "did you mean shed-above"},
       {{"shed-above", "-2"}, "shed-above"},
       {{"error-share", "1.5"}, "error-share"},
       {{"backlog", "5"}, "cannot change while"},
       {{"max-connections", "5"}, "cannot change"},
       {{"accepts", "when-free"}, "cannot change"},
       {{"rate-burst", "5"}, "rate-burst has no effect without --rate-limit"}});
  EXPECT_EQ(options.shed_above, 0u);
  EXPECT_EQ(options.rate_limit.burst, RateBurst());
}

TEST(ChangedOption, MayHaveAnEffectOnlyAfterAnotherChange) {
  ServiceOptions options;
  change_option(options, "rate-limit", "50", Engine::kReal);
  change_option(options, "rate-burst", "5", Engine::kReal);
  EXPECT_EQ(options.rate_limit.burst.requests, 5);
}

}  // namespace
}  // namespace retrystorm
