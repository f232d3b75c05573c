#include "model/base/random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

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

}  // namespace
}  // namespace retrystorm
