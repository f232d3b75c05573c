#include <deque>

#include "model/base/queues.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

TEST(Fifo, KeepsTheOrderWhileItGrowsAndWrapsAround) {
  Fifo<int> fifo;
  std::deque<int> expected;
  int next = 0;
  for (int round = 1; round < 200; ++round) {
    for (int i = 0; i < round % 37; ++i) {
      fifo.push(next);
      expected.push_back(next++);
    }
    for (int i = 0; i < round % 31 && !expected.empty(); ++i) {
      ASSERT_EQ(fifo.front(), expected.front());
      fifo.pop();
      expected.pop_front();
    }
    ASSERT_EQ(fifo.size(), expected.size());
    ASSERT_EQ(fifo.empty(), expected.empty());
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(fifo.peek(i), expected[i]);
  }
}

TEST(Fifo, IsTakenFromBothEnds) {
  Fifo<int> fifo;
  for (int i = 0; i < 40; ++i) fifo.push(i);
  EXPECT_EQ(fifo.back(), 39);
  EXPECT_EQ(fifo.take_back(), 39);
  fifo.pop_back();
  EXPECT_EQ(fifo.take_back(), 37);
  EXPECT_EQ(fifo.take(), 0);
  EXPECT_EQ(fifo.size(), 36u);
  fifo.push(99);
  EXPECT_EQ(fifo.take_back(), 99);
}

TEST(Fifo, KeepsTheOrderOfWhatIsNotForgotten) {
  Fifo<int> fifo;
  for (int i = 0; i < 20; ++i) fifo.push(i);
  fifo.erase_if([](int item) { return item % 3 != 0; });
  for (const int expected : {0, 3, 6, 9, 12, 15, 18}) EXPECT_EQ(fifo.take(), expected);
  EXPECT_TRUE(fifo.empty());
}

}  // namespace
}  // namespace retrystorm
