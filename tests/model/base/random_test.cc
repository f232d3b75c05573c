#include "model/base/random.h"

#include <bit>

#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

TEST(Random, UniformInARangeIsLinear) {
  ScriptedRandom random{0, 0.5, 0.75};
  EXPECT_EQ(random.uniform(2, 4), 2);
  EXPECT_EQ(random.uniform(2, 4), 3);
  EXPECT_EQ(random.uniform(-1, 1), 0.5);
}

TEST(Random, ExponentialIsTheInverseOfItsDistribution) {
  ScriptedRandom random{0, 0.5, 0.5};
  EXPECT_EQ(random.exponential(10s), 0s);
  EXPECT_EQ(random.exponential(10s), 6931471805ns);  // ln 2 * 10 s
  EXPECT_EQ(random.exponential(0s), 0s);
}

TEST(Random, NormalIsThePolarMethod) {
  ScriptedRandom random{test::kNormalU, test::kNormalV, 0.25, 0.5};
  EXPECT_DOUBLE_EQ(random.normal(), test::kNormal);
  EXPECT_DOUBLE_EQ(random.normal(), -test::kNormal);  // the point on the other side
  EXPECT_EQ(random.left(), 0);
}

TEST(Random, NormalRejectsPointsOutsideTheCircleAndItsCentre) {
  ScriptedRandom random{0.999, 0.999, 0.5, 0.5, 0, 0.5, test::kNormalU, test::kNormalV};
  EXPECT_DOUBLE_EQ(random.normal(), test::kNormal);
  EXPECT_EQ(random.left(), 0);
}

// The first numbers of SplitMix64 from state 0, as published: e220a8397b1dcdaf, 6e789e6aa1b965f4,
// 06c45d188009454f; of each the upper 53 bits.
TEST(ClientRandom, IsSplitMix64) {
  ClientRandom random(std::uint64_t{0});
  EXPECT_EQ(random.uniform(), static_cast<double>(0xe220a8397b1dcdaf >> 11) * 0x1p-53);
  EXPECT_EQ(random.uniform(), static_cast<double>(0x6e789e6aa1b965f4 >> 11) * 0x1p-53);
  EXPECT_EQ(random.uniform(), static_cast<double>(0x06c45d188009454f >> 11) * 0x1p-53);
}

TEST(ClientRandom, DependsOnSeedAndClientAlone) {
  ClientRandom alone(7, 3);
  std::vector<double> expected;
  for (int i = 0; i < 100; ++i) expected.push_back(alone.uniform());

  // The same client, with others that draw in between.
  ClientRandom other(7, 2), again(7, 3);
  for (const double value : expected) {
    other.uniform();
    EXPECT_EQ(again.uniform(), value);
    other.uniform();
  }
}

TEST(ClientRandom, DiffersBetweenSeedsAndClients) {
  std::set<double> first;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (std::uint64_t client = 0; client < 100; ++client) {
      first.insert(ClientRandom(seed, client).uniform());
    }
  }
  EXPECT_EQ(first.size(), 10'000);
}

TEST(ClientRandom, ContinuesFromAState) {
  ClientRandom random(7, 3);
  random.uniform();
  ClientRandom same(random.state());
  EXPECT_EQ(same.uniform(), random.uniform());
}

struct Moments {
  double mean = 0;
  double variance = 0;
};

template <typename Draw>
Moments moments(Draw draw) {
  constexpr int kSeeds = 100, kDraws = 2000;
  double sum = 0, squares = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    ClientRandom random(seed, seed % 7);
    for (int i = 0; i < kDraws; ++i) {
      const double x = draw(random);
      sum += x;
      squares += x * x;
    }
  }
  const double mean = sum / (kSeeds * kDraws);
  return {mean, squares / (kSeeds * kDraws) - mean * mean};
}

// With 200,000 draws a mean is off by sigma/447 on average: the bounds are six times that.
TEST(ClientRandom, UniformHasItsMomentsAndBounds) {
  const Moments m = moments([](Random& random) {
    const double u = random.uniform();
    EXPECT_TRUE(u >= 0 && u < 1) << u;
    return u;
  });
  EXPECT_NEAR(m.mean, 0.5, 0.004);
  EXPECT_NEAR(m.variance, 1.0 / 12, 0.001);
}

TEST(ClientRandom, ExponentialHasItsMomentsAndIsNeverNegative) {
  const Moments m = moments([](Random& random) {
    const Duration wait = random.exponential(10s);
    EXPECT_GE(wait, 0s);
    return to_seconds(wait);
  });
  EXPECT_NEAR(m.mean, 10, 0.14);
  EXPECT_NEAR(m.variance, 100, 4);
}

TEST(ClientRandom, NormalHasItsMoments) {
  const Moments m = moments([](Random& random) { return random.normal(); });
  EXPECT_NEAR(m.mean, 0, 0.014);
  EXPECT_NEAR(m.variance, 1, 0.02);
}

TEST(FindCrossing, EndsAtTwoNeighbours) {
  const auto [low, high] = find_crossing(0, 4, [](double x) { return x * x < 2; });
  EXPECT_LT(low * low, 2);
  EXPECT_GE(high * high, 2);
  EXPECT_EQ(std::nextafter(low, 4), high);
}

TEST(FindCrossing, StaysBetweenItsEnds) {
  EXPECT_EQ(find_crossing(1, 2, [](double) { return false; }).low, 1);
  EXPECT_EQ(find_crossing(1, 2, [](double) { return true; }).high, 2);
}

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
