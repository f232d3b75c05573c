#include "simulator/wait_calendar.h"

#include "model/base/random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

constexpr TimePoint kBegin{};

std::set<WaitCalendar::Wait> fill(WaitCalendar& queue, Random& random, std::uint32_t count,
                                  TimePoint from, Duration within) {
  std::set<WaitCalendar::Wait> waits;
  for (std::uint32_t client = 0; client < count; ++client) {
    const WaitCalendar::Wait wait{from + scale(within, random.uniform()), client};
    queue.push(wait);
    waits.insert(wait);
  }
  return waits;
}

TEST(WaitCalendar, IsEmptyAtFirst) {
  WaitCalendar queue(kBegin, kBegin + 10s, 100);
  EXPECT_EQ(queue.next(), TimePoint::max());
}

TEST(WaitCalendar, PopsInTheOrderOfTheEnds) {
  ClientRandom random(1, 0);
  WaitCalendar queue(kBegin, kBegin + 100s, 10'000);
  for (const WaitCalendar::Wait& wait : fill(queue, random, 10'000, kBegin, 100s)) {
    ASSERT_EQ(queue.next(), wait.end);
    ASSERT_EQ(queue.pop().client, wait.client);
  }
  EXPECT_EQ(queue.next(), TimePoint::max());
}

TEST(WaitCalendar, OrdersWaitsThatEndTogetherByClient) {
  WaitCalendar queue(kBegin, kBegin + 10s, 10);
  for (const std::uint32_t client : {3u, 1u, 2u}) queue.push({kBegin + 1s, client});
  EXPECT_EQ(queue.next(), kBegin + 1s);
  EXPECT_EQ(queue.pop().client, 1u);
  EXPECT_EQ(queue.pop().client, 2u);
  EXPECT_EQ(queue.pop().client, 3u);
}

TEST(WaitCalendar, KeepsTheOrderWhileWaitsAreAdded) {
  // Half of the new waits are far shorter than a bucket, half far longer.
  ClientRandom random(2, 0);
  WaitCalendar queue(kBegin, kBegin + 1000s, 1'000);
  auto waits = fill(queue, random, 1'000, kBegin, 1s);
  for (int i = 0; i < 100'000 && !waits.empty(); ++i) {
    ASSERT_EQ(queue.next(), waits.begin()->end);
    const WaitCalendar::Wait wait = queue.pop();
    ASSERT_EQ(wait.client, waits.begin()->client);
    waits.erase(waits.begin());
    const Duration length = random.uniform() < 0.5 ? Duration(1us) : Duration(10s);
    const WaitCalendar::Wait next{wait.end + scale(length, random.uniform()), wait.client};
    queue.push(next);
    if (next.end <= kBegin + 1000s) waits.insert(next);
  }
}

TEST(WaitCalendar, FindsALoneWaitFarAway) {
  WaitCalendar queue(kBegin, kBegin + std::chrono::hours(24), 1'000'000);
  queue.push({kBegin + std::chrono::hours(23), 7});
  EXPECT_EQ(queue.next(), kBegin + std::chrono::hours(23));
  queue.push({kBegin + 1s, 8});  // before the wait that was found
  EXPECT_EQ(queue.next(), kBegin + 1s);
  EXPECT_EQ(queue.pop().client, 8u);
  EXPECT_EQ(queue.next(), kBegin + std::chrono::hours(23));
  EXPECT_EQ(queue.pop().client, 7u);
}

TEST(WaitCalendar, KeepsWaitsUntilTheEndOfTheRunOnly) {
  WaitCalendar queue(kBegin, kBegin + 10s, 10);
  queue.push({kBegin + 10s + 1ns, 1});
  queue.push({TimePoint::max(), 2});
  EXPECT_EQ(queue.next(), TimePoint::max());
  queue.push({kBegin + 10s, 3});
  EXPECT_EQ(queue.next(), kBegin + 10s);
  EXPECT_EQ(queue.pop().client, 3u);
}

}  // namespace
}  // namespace retrystorm
