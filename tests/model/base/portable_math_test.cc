
#include <bit>

#include "model/base/random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// The distance of two numbers of one sign, counted in doubles.
std::int64_t ulps(double a, double b) {
  return std::abs(std::bit_cast<std::int64_t>(a) - std::bit_cast<std::int64_t>(b));
}

TEST(NaturalLog, IsExactWhereTheLogarithmIs) {
  EXPECT_EQ(natural_log(1), 0);
  EXPECT_EQ(natural_log(2), std::log(2.0));
  EXPECT_EQ(natural_log(0.5), -std::log(2.0));
}

TEST(NaturalLog, AgreesWithTheLibraryWithin4Ulp) {
  ClientRandom random(1, 0);
  for (int i = 0; i < 200'000; ++i) {
    // All magnitudes, and the unit interval that the distributions draw from.
    const double wide = std::ldexp(1 + random.uniform(), static_cast<int>(i % 2040) - 1020);
    ASSERT_LE(ulps(natural_log(wide), std::log(wide)), 4) << wide;
    const double unit = 1 - random.uniform();
    if (unit == 1) continue;
    ASSERT_LE(ulps(natural_log(unit), std::log(unit)), 4) << unit;
  }
}

TEST(NaturalLog, AgreesCloseToOneAndAtTheEndsOfTheRange) {
  for (const double x :
       {1 + 0x1p-52, 1 - 0x1p-53, 1 + 0x1p-30, 1 - 0x1p-30, 0.99, 1.01, 1.05, 0x1.6a09e667f3bccp-1,
        0x1.6a09e667f3bcdp-1, 0x1.6a09e667f3bccp+0, 0x1.6a09e667f3bcdp+0, 0x1p-53,
        std::numeric_limits<double>::min(), std::numeric_limits<double>::max()}) {
    EXPECT_LE(ulps(natural_log(x), std::log(x)), 4) << x;
  }
}

TEST(Exponential, IsExactAtZero) {
  EXPECT_EQ(exponential(0), 1);
  EXPECT_EQ(exponential(-0.0), 1);
}

TEST(Exponential, AgreesWithTheLibraryWithin4Ulp) {
  ClientRandom random(2, 0);
  for (int i = 0; i < 200'000; ++i) {
    const double wide = random.uniform(-708, 709.7);
    ASSERT_LE(ulps(exponential(wide), std::exp(wide)), 4) << wide;
    const double small = random.uniform(-1, 1);
    ASSERT_LE(ulps(exponential(small), std::exp(small)), 4) << small;
  }
}

TEST(Exponential, EndsInZeroAndInfinity) {
  EXPECT_EQ(exponential(-800), 0);
  EXPECT_EQ(exponential(-1e300), 0);
  EXPECT_EQ(exponential(710), std::numeric_limits<double>::infinity());
  EXPECT_EQ(exponential(1e300), std::numeric_limits<double>::infinity());
  EXPECT_EQ(exponential(std::numeric_limits<double>::infinity()),
            std::numeric_limits<double>::infinity());
}

TEST(Exponential, NeverFalls) {
  double last = 0;
  for (double x = -5; x < 5; x += 0.0001) {
    const double value = exponential(x);
    ASSERT_GE(value, last) << x;
    last = value;
  }
}

}  // namespace
}  // namespace retrystorm
