#include "model/service/service_time.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

const ServiceCurve kArticle(100ms, 30, 1.05, 15);

TEST(ServiceCurve, IsFlatUpToTheLimit) {
  EXPECT_EQ(kArticle.delay(0), 100ms);
  EXPECT_EQ(kArticle.delay(1), 100ms);
  EXPECT_EQ(kArticle.delay(30), 100ms);
  EXPECT_GT(kArticle.delay(31), 100ms);
}

TEST(ServiceCurve, GrowsByTheFactorForEveryKRequests) {
  EXPECT_NEAR(to_seconds(kArticle.delay(45)), 0.105, 1e-9);
  EXPECT_NEAR(to_seconds(kArticle.delay(60)), 0.11025, 1e-9);
  const ServiceCurve doubling(1s, 10, 2, 5);
  EXPECT_NEAR(to_seconds(doubling.delay(15)), 2, 1e-8);
  EXPECT_NEAR(to_seconds(doubling.delay(25)), 8, 1e-8);
}

// The log in the article.
TEST(ServiceCurve, GivesTheArticlesDelaysToTheNanosecond) {
  EXPECT_EQ(format_duration(kArticle.delay(1040)), "2.671444385s");
  EXPECT_EQ(format_duration(kArticle.delay(1599)), "16.458895305s");
  EXPECT_EQ(format_duration(kArticle.delay(1925)), "47.524196455s");
  EXPECT_EQ(format_duration(kArticle.delay(2231)), "2m8.580906589s");
}

TEST(ServiceCurve, ReachesTheClientsTimeoutAt951) {
  EXPECT_LT(kArticle.delay(951), 2s);
  EXPECT_GT(kArticle.delay(952), 2s);
}

TEST(ServiceCurve, HasItsHighestThroughputAt307) {
  const auto throughput = [](std::size_t c) {
    return static_cast<double>(c) / to_seconds(kArticle.delay(c));
  };
  EXPECT_NEAR(throughput(307), 1246.9, 0.1);
  EXPECT_GT(throughput(307), throughput(297));
  EXPECT_GT(throughput(307), throughput(317));
}

// 0.1 * 1.05^((c - 30)/15) passes 2^63 ns between 7792 (9.2205e18 ns) and 7793 (9.2506e18 ns).
TEST(ServiceCurve, SaturatesWhereTheOriginalOverflows) {
  EXPECT_GT(kArticle.delay(7792), 290 * 365 * 24h);
  EXPECT_LT(kArticle.delay(7792), Duration::max());
  EXPECT_EQ(kArticle.delay(7793), Duration::max());
  EXPECT_EQ(kArticle.delay(20'000), Duration::max());
  EXPECT_EQ(kArticle.delay(1'000'000'000), Duration::max());
  EXPECT_EQ(kArticle.delay(std::numeric_limits<std::size_t>::max()), Duration::max());
}

TEST(ServiceCurve, KnowsWhereItsThroughputFalls) {
  EXPECT_NEAR(kArticle.best_concurrency(), 307.4, .1);
  EXPECT_NEAR(kArticle.throughput(307), 1246.9, .1);
  EXPECT_NEAR(kArticle.concurrency_of_delay(2s), 951, .1);
  EXPECT_EQ(kArticle.concurrency_of_delay(99ms), 0);
  EXPECT_NEAR(kArticle.falling_concurrency(100), 1588, .5);
  EXPECT_NEAR(kArticle.falling_concurrency(200), 1317, .5);
  EXPECT_EQ(kArticle.falling_concurrency(5000), kArticle.best_concurrency());
  const ServiceCurve flat(5ms, 0, 1, 15);
  EXPECT_TRUE(std::isinf(flat.best_concurrency()));
  EXPECT_TRUE(std::isinf(flat.falling_concurrency(1)));
}

TEST(ServiceCurve, NeverFalls) {
  Duration last{0};
  for (std::size_t c = 0; c < 20'000; ++c) {
    ASSERT_GE(kArticle.delay(c), last) << c;
    last = kArticle.delay(c);
  }
}

TEST(ServiceCurve, OfFactorOneIsFlat) {
  const ServiceCurve flat(5ms, 0, 1, 15);
  EXPECT_EQ(flat.delay(1), 5ms);
  EXPECT_EQ(flat.delay(1'000'000), 5ms);
}

TEST(ServiceCurve, OfNoDelayStaysAtZero) {
  EXPECT_EQ(ServiceCurve(0s, 0, 1e9, 1e-9).delay(1'000'000), 0s);
}

TEST(ServiceCurve, OfExtremeParametersSaturates) {
  EXPECT_EQ(ServiceCurve(1ns, 0, 1e9, 1e-9).delay(1), Duration::max());
  EXPECT_EQ(ServiceCurve(Duration::max(), 0, 1.05, 15).delay(1), Duration::max());
}

}  // namespace
}  // namespace retrystorm
