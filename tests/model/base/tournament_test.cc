#include "model/base/queues.h"
#include "model/base/random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

TEST(Tournament, TheFirstOfEqualOnesWins) {
  for (const std::size_t items : {1u, 2u, 3u, 8u, 13u}) {
    Tournament<int> keys(items, 7);
    EXPECT_EQ(keys.first(), 0);
    keys.set(items - 1, 6);
    EXPECT_EQ(keys.first(), items - 1);
    EXPECT_EQ(keys.least(), 6);
  }
}

// The same as a search through all of them.
TEST(Tournament, KnowsTheLeastAfterEachChange) {
  ClientRandom random(1, 0);
  for (const std::size_t items : {2u, 5u, 64u, 100u}) {
    std::vector<double> all(items, 0.5);
    Tournament<double> keys(items, 0.5);
    for (int i = 0; i < 1000; ++i) {
      const auto item = static_cast<std::size_t>(random.uniform(0, static_cast<double>(items)));
      keys.set(item, all[item] = random.uniform());
      const auto least = std::min_element(all.begin(), all.end());
      ASSERT_EQ(keys.first(), least - all.begin());
      ASSERT_EQ(keys.least(), *least);
    }
  }
}

}  // namespace
}  // namespace retrystorm
