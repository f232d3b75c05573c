#include "model/service/service_time.h"

#include "tests/support/refusal.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

TEST(ServiceTime, DrawsByItsFormula) {
  ScriptedRandom none{};
  EXPECT_EQ(ServiceTime::fixed(70ms).draw(none), 70ms);

  // -ln(1 - u) * mean
  ScriptedRandom half{0.5};
  EXPECT_NEAR(to_seconds(ServiceTime::exponential(2s).draw(half)), 2 * std::log(2), 1e-9);

  // mean * e^(sigma z - sigma^2/2), sigma^2 = ln(1 + CV^2)
  ScriptedRandom normal{test::kNormalU, test::kNormalV};
  const double sigma = std::sqrt(std::log(1 + 1.5 * 1.5));
  EXPECT_NEAR(to_seconds(ServiceTime::lognormal(2s, 1.5).draw(normal)),
              2 * std::exp(sigma * test::kNormal - sigma * sigma / 2), 1e-8);

  ScriptedRandom both{0.0499, 0.05};
  const ServiceTime bimodal = ServiceTime::bimodal(10ms, 0.05, 1s);
  EXPECT_EQ(bimodal.draw(both), 1s);
  EXPECT_EQ(bimodal.draw(both), 10ms);
}

TEST(ServiceTime, HasItsQuantiles) {
  EXPECT_EQ(ServiceTime::fixed(70ms).quantile(0.99), 70ms);
  EXPECT_NEAR(to_seconds(ServiceTime::exponential(100ms).quantile(0.99)), 0.46052, 1e-5);
  // Arolla's timeout of 192 ms is the 99 % quantile of a median of 60 ms and a sigma of 0.5.
  const double variation = std::sqrt(std::exp(0.25) - 1);
  const auto lognormal = ServiceTime::lognormal(from_seconds(0.06 * std::exp(0.125)), variation);
  EXPECT_NEAR(to_seconds(lognormal.quantile(0.5)), 0.06, 1e-6);
  EXPECT_NEAR(to_seconds(lognormal.quantile(0.99)), 0.192, 1e-4);
  const auto bimodal = ServiceTime::bimodal(10ms, 0.05, 1s);
  EXPECT_EQ(bimodal.quantile(0.95), 10ms);
  EXPECT_EQ(bimodal.quantile(0.96), 1s);
  EXPECT_EQ(ServiceTime::bimodal(1s, 0.05, 10ms).quantile(0.05), 10ms);
}

TEST(ServiceTime, HasAMean) {
  EXPECT_EQ(ServiceTime::exponential(100ms).mean(), 100ms);
  EXPECT_EQ(ServiceTime::lognormal(100ms, 0.5).mean(), 100ms);
  EXPECT_EQ(ServiceTime::bimodal(100ms, 0.05, 1s).mean(), 145ms);
}

TEST(ServiceTime, CanBeMadeLonger) {
  EXPECT_EQ(ServiceTime::fixed(70ms).times(3), ServiceTime::fixed(210ms));
  EXPECT_EQ(ServiceTime::exponential(1s).times(0.5), ServiceTime::exponential(500ms));
  EXPECT_EQ(ServiceTime::lognormal(1s, 2).times(2), ServiceTime::lognormal(2s, 2));
  EXPECT_EQ(ServiceTime::bimodal(1s, 0.1, 5s).times(2), ServiceTime::bimodal(2s, 0.1, 10s));
}

TEST(ServiceTime, IsReadAsItIsPrinted) {
  for (const char* text :
       {"fixed:100ms", "exponential:1.5s", "lognormal:20ms:1.5", "bimodal:100ms:0.05:1m40s"}) {
    EXPECT_EQ(ServiceTime::parse(text).text(), text);
  }
  EXPECT_EQ(ServiceTime::parse("250ms"), ServiceTime::fixed(250ms));
  EXPECT_EQ(ServiceTime::parse("0"), ServiceTime::fixed(0s));
}

TEST(ServiceTime, RefusesOtherText) {
  for (const char* text :
       {"", "fast", "fixed", "fixed:", "fixed:-1s", "-1s", "fixed:1s:2s",
        "exponential:", "exponential:0s", "exponential:1s:2", "lognormal:", "lognormal:1s:-1",
        "lognormal:0s:1", "bimodal:1s:2s", "bimodal:1s:1.1:2s", "bimodal:1s:-0.1:2s",
        "bimodal:1s:0.1:-2s", "bimodal:1s:0.1:2s:3s"}) {
    EXPECT_THROW(ServiceTime::parse(text), std::invalid_argument) << text;
  }
}

TEST(ServiceTime, NamesTheFormOfAMixture) {
  test::expect_refusals(ServiceTime::parse, {{"50ms:400ms:x2", "bimodal:50ms:0.05:400ms"},
                                             {"50ms:0.1:400ms", "bimodal:50ms:0.05:400ms"}});
  EXPECT_EQ(ServiceTime::parse("bimodal:50ms:0.05:400ms").mean(), 67'500us);
}

TEST(ServiceTime, LognormalHasItsOwnSpread) {
  EXPECT_EQ(ServiceTime::parse("lognormal:80ms").text(), "lognormal:80ms:0.5");
  EXPECT_EQ(ServiceTime::parse("lognormal:80ms:2").text(), "lognormal:80ms:2");
  EXPECT_EQ(ServiceTime::parse("lognormal:80ms:50%"), ServiceTime::lognormal(80ms, 0.5));
  EXPECT_EQ(ServiceTime::parse("lognormal:80ms:300%"), ServiceTime::lognormal(80ms, 3));
  EXPECT_EQ(ServiceTime::parse("lognormal:80ms:300%").text(), "lognormal:80ms:300%");
  EXPECT_THROW(ServiceTime::parse("lognormal:80ms:50"), std::invalid_argument);  // 50% or 5000%
}

}  // namespace
}  // namespace retrystorm
