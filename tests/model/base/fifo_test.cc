#include "model/base/fifo.h"

#include <gtest/gtest.h>

#include <deque>

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

}  // namespace
}  // namespace retrystorm
