#include "model/service/service_queue.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

constexpr TimePoint kStart{};

// One second up to a concurrency of 2, and twice as long for each one above.
ServiceQueue<std::string> steep_queue() {
  return ServiceQueue<std::string>(ServiceCurve(1s, 2, 2, 1));
}

TEST(ServiceQueue, IsIdleAtFirst) {
  auto queue = steep_queue();
  EXPECT_EQ(queue.concurrency(), 0);
  EXPECT_EQ(queue.next_departure(), TimePoint::max());
  EXPECT_EQ(queue.depart(kStart + 1h), std::nullopt);
  EXPECT_EQ(queue.take_front(), std::nullopt);
  EXPECT_EQ(queue.current_delay(), 1s);
}

TEST(ServiceQueue, IsFirstInFirstOut) {
  auto queue = steep_queue();
  queue.arrive(kStart, "a");
  queue.arrive(kStart + 1ms, "b");
  queue.arrive(kStart + 2ms, "c");
  EXPECT_EQ(queue.depart(kStart + 1h), "a");
  EXPECT_EQ(queue.depart(kStart + 1h), "b");
  EXPECT_EQ(queue.depart(kStart + 1h), "c");
  EXPECT_EQ(queue.depart(kStart + 1h), std::nullopt);
}

TEST(ServiceQueue, DepartsWhenItsDelayIsOver) {
  auto queue = steep_queue();
  queue.arrive(kStart, "a");
  EXPECT_EQ(queue.next_departure(), kStart + 1s);
  EXPECT_EQ(queue.depart(kStart + 1s - 1ns), std::nullopt);
  EXPECT_EQ(queue.depart(kStart + 1s), "a");
}

TEST(ServiceQueue, FrontMovesLaterWithEachArrival) {
  auto queue = steep_queue();
  queue.arrive(kStart, "a");
  queue.arrive(kStart, "b");
  EXPECT_EQ(queue.next_departure(), kStart + 1s);
  queue.arrive(kStart, "c");
  EXPECT_NEAR(to_seconds(queue.next_departure() - kStart), 2, 1e-8);
  queue.arrive(kStart, "d");
  EXPECT_NEAR(to_seconds(queue.next_departure() - kStart), 4, 1e-8);
  EXPECT_EQ(queue.depart(kStart + 3s), std::nullopt);
}

TEST(ServiceQueue, FrontMovesEarlierWithEachLeave) {
  auto queue = steep_queue();
  for (const char* item : {"a", "b", "c", "d"}) queue.arrive(kStart, item);
  queue.take_front();
  EXPECT_NEAR(to_seconds(queue.next_departure() - kStart), 4, 1e-8);  // not yet answered
  queue.leave();
  EXPECT_NEAR(to_seconds(queue.next_departure() - kStart), 2, 1e-8);
  queue.take_front();
  queue.leave();
  EXPECT_EQ(queue.next_departure(), kStart + 1s);
  // So a request that has waited for long is overdue at once.
  EXPECT_EQ(queue.depart(kStart + 1s), "c");
}

TEST(ServiceQueue, FrontsTimeCountsFromItsOwnArrival) {
  auto queue = steep_queue();
  queue.arrive(kStart, "a");
  queue.arrive(kStart + 300ms, "b");
  EXPECT_EQ(queue.depart(kStart + 1s), "a");
  EXPECT_EQ(queue.next_departure(), kStart + 1300ms);
}

TEST(ServiceQueue, ConcurrencyIncludesThoseBeingAnswered) {
  auto queue = steep_queue();
  queue.arrive(kStart, "a");
  queue.arrive(kStart, "b");
  queue.depart(kStart + 1s);
  EXPECT_EQ(queue.concurrency(), 2);
  queue.take_front();
  EXPECT_EQ(queue.concurrency(), 2);
  queue.leave();
  EXPECT_EQ(queue.concurrency(), 1);
  queue.leave();
  EXPECT_EQ(queue.concurrency(), 0);
}

TEST(ServiceQueue, DelayIsOneForAll) {
  auto queue = steep_queue();
  for (const char* item : {"a", "b", "c"}) queue.arrive(kStart, item);
  EXPECT_NEAR(to_seconds(queue.current_delay()), 2, 1e-8);
  // All three came at once: the moment the first goes, those left are due at a shorter delay.
  ASSERT_EQ(queue.depart(kStart + 2s), "a");
  queue.leave();
  EXPECT_EQ(queue.depart(kStart + 2s), "b");
  EXPECT_EQ(queue.depart(kStart + 2s), "c");
}

TEST(ServiceQueue, NeverServesWhenTheDelayIsSaturated) {
  ServiceQueue<int> queue(ServiceCurve(100ms, 30, 1.05, 15));
  for (int i = 0; i < 8000; ++i) queue.arrive(kStart + 1s, i);
  EXPECT_EQ(queue.current_delay(), Duration::max());
  EXPECT_EQ(queue.next_departure(), TimePoint::max());
  EXPECT_EQ(queue.depart(kStart + 100'000h), std::nullopt);
}

TEST(ServiceQueue, ForgetsCancelledRequests) {
  auto queue = steep_queue();
  const auto a = queue.arrive(kStart, "a");
  queue.arrive(kStart + 1ms, "b");
  const auto c = queue.arrive(kStart + 2ms, "c");
  const auto d = queue.arrive(kStart + 3ms, "d");
  EXPECT_NEAR(to_seconds(queue.next_departure() - kStart), 4, 1e-8);
  queue.cancel(c);
  EXPECT_EQ(queue.concurrency(), 3);
  queue.cancel(a);
  // The second is the front now, at the delay of two.
  EXPECT_EQ(queue.next_departure(), kStart + 1001ms);
  EXPECT_EQ(queue.depart(kStart + 1h), "b");
  queue.leave();
  EXPECT_EQ(queue.depart(kStart + 1h), "d");
  queue.leave();
  EXPECT_EQ(queue.concurrency(), 0);
  EXPECT_EQ(queue.depart(kStart + 1h), std::nullopt);
  EXPECT_EQ(queue.arrive(kStart + 1h, "e"), d + 1);
}

TEST(ServiceQueue, HoldsMoveOnlyValues) {
  ServiceQueue<std::unique_ptr<int>> queue(ServiceCurve(0s, 0, 1, 1));
  queue.arrive(kStart, std::make_unique<int>(7));
  EXPECT_EQ(**queue.depart(kStart), 7);
}

}  // namespace
}  // namespace retrystorm
