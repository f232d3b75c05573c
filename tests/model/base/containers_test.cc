#include <deque>

#include "model/base/queues.h"
#include "model/base/random.h"
#include "model/base/sliding_window.h"
#include "tests/support/retry_parts.h"
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

constexpr TimePoint kDawn{};

std::vector<int> take_all(Agenda<int>& agenda) {
  std::vector<int> items;
  for (; !agenda.empty(); agenda.pop()) items.push_back(agenda.first().item);
  return items;
}

TEST(Agenda, GivesTheEarliestFirst) {
  Agenda<int> agenda;
  for (const int due : {3, 1, 4, 5, 2}) agenda.add(kDawn + due * 1s, due);
  EXPECT_EQ(agenda.size(), 5u);
  EXPECT_EQ(agenda.first().due, kDawn + 1s);
  EXPECT_EQ(take_all(agenda), (std::vector<int>{1, 2, 3, 4, 5}));
}

TEST(Agenda, KeepsTheOrderOfEntriesDueAtTheSameMoment) {
  Agenda<int> agenda;
  agenda.add(kDawn + 2s, 1);
  agenda.add(kDawn + 1s, 2);
  agenda.add(kDawn + 1s, 3);
  agenda.add(kDawn + 2s, 4);
  agenda.add(kDawn + 1s, 5);
  EXPECT_EQ(take_all(agenda), (std::vector<int>{2, 3, 5, 1, 4}));
}

TEST(Agenda, StaysInOrderWhileEntriesAreAdded) {
  Agenda<int> agenda;
  ClientRandom random(1, 1);
  TimePoint now = kDawn;
  for (int i = 0; i < 10'000; ++i) {
    for (int j = 0; j < (i < 5'000 ? 2 : 0); ++j) agenda.add(now + random.exponential(1s), i);
    ASSERT_GE(agenda.first().due, now);
    now = agenda.first().due;
    agenda.pop();
  }
  EXPECT_TRUE(agenda.empty());
}

TEST(Agenda, ForgetsChosenEntries) {
  Agenda<int> agenda;
  for (const int due : {3, 1, 4, 6, 5, 2}) agenda.add(kDawn + due * 1s, due);
  agenda.erase_if([](int item) { return item % 2 == 0; });
  EXPECT_EQ(take_all(agenda), (std::vector<int>{1, 3, 5}));
}

using test::kStart;

TEST(SlidingWindow, ForgetsSliceBySlice) {
  SlidingWindow<int> window(kStart, 10s, 10);
  window.add(kStart, 1);
  window.add(kStart + 999ms, 2);
  window.add(kStart + 1s, 4);
  window.add(kStart + 9999ms, 8);
  EXPECT_EQ(window.total(kStart + 9999ms), 15);
  EXPECT_EQ(window.total(kStart + 10s), 12) << "the slice of the first second";
  EXPECT_EQ(window.total(kStart + 10999ms), 12);
  EXPECT_EQ(window.total(kStart + 11s), 8);
  EXPECT_EQ(window.total(kStart + 18999ms), 8);
  EXPECT_EQ(window.total(kStart + 19s), 0);
}

TEST(SlidingWindow, ForgetsAllAfterALongTimeAndKeepsItsSlices) {
  SlidingWindow<int> window(kStart, 10s, 10);
  window.add(kStart, 1);
  window.add(kStart + 1000h + 500ms, 2);
  EXPECT_EQ(window.total(kStart + 1000h + 9999ms), 2);
  EXPECT_EQ(window.total(kStart + 1000h + 10s), 0);
}

TEST(SlidingWindow, CountsLateEntriesAsNew) {
  SlidingWindow<int> window(kStart, 10s, 10);
  window.add(kStart + 5s, 1);
  window.add(kStart + 4s, 2);
  EXPECT_EQ(window.total(kStart + 14999ms), 3);
  EXPECT_EQ(window.total(kStart + 15s), 0);
}

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
