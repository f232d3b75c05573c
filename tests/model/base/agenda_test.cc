#include "model/base/queues.h"
#include "model/base/random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

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

}  // namespace
}  // namespace retrystorm
