#include "model/service/worker_queue.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/scripted_random.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kShift{1h};

// A queue whose requests are letters. Nothing in it is random unless the test sets it.
struct Workers {
  explicit Workers(const WorkerSettings& settings) : queue(settings) {}

  WorkerQueue<char>::Ticket arrive(TimePoint now, char item) {
    queue.advance(now, random);
    return queue.arrive(now, item, random);
  }
  WorkerQueue<char>::Ticket refuse(TimePoint now, char item) {
    queue.advance(now, random);
    return queue.refuse(now, item, {.rejection = Rejection::kShed, .retry_after = 7s}, random);
  }

  // The requests given out by then, in order. Refused ones are small letters.
  std::string take(TimePoint now) {
    std::string items;
    while (const auto given = queue.take(now, random)) {
      items += static_cast<char>(given->item + (given->answer != nullptr ? 'a' - 'A' : 0));
      if (given->answer == nullptr) queue.leave();
    }
    return items;
  }

  test::ScriptedRandom random{};
  WorkerQueue<char> queue;
};

WorkerSettings with(std::size_t workers, Duration time = 100ms) {
  return {.workers = workers, .service_time = ServiceTime::fixed(time)};
}

TEST(WorkerQueue, IsIdleAtFirst) {
  Workers workers(with(2));
  EXPECT_EQ(workers.queue.next_event(), TimePoint::max());
  EXPECT_EQ(workers.queue.concurrency(), 0u);
  EXPECT_EQ(workers.queue.expected_time(), 100ms);
  EXPECT_FALSE(workers.queue.full());
  EXPECT_EQ(workers.take(kShift + 1h), "");
}

TEST(WorkerQueue, ServesAsManyAsItHasWorkersInTheOrderOfArrival) {
  Workers workers(with(2));
  for (const char item : {'A', 'B', 'C', 'D', 'E'}) workers.arrive(kShift, item);
  EXPECT_EQ(workers.queue.busy(), 2u);
  EXPECT_EQ(workers.queue.waiting(), 3u);
  EXPECT_EQ(workers.queue.concurrency(), 5u);
  EXPECT_EQ(workers.queue.expected_time(), 300ms);  // the mean of two places, behind three
  EXPECT_EQ(workers.queue.next_event(), kShift + 100ms);
  EXPECT_EQ(workers.take(kShift + 100ms - 1ns), "");
  EXPECT_EQ(workers.take(kShift + 100ms), "AB");
  EXPECT_EQ(workers.take(kShift + 200ms), "CD");
  EXPECT_EQ(workers.queue.busy(), 1u);
  EXPECT_EQ(workers.take(kShift + 300ms), "E");
  EXPECT_EQ(workers.queue.next_event(), TimePoint::max());
  EXPECT_EQ(workers.queue.concurrency(), 0u);
}

TEST(WorkerQueue, DrawsTheTimeOfEachAtItsStart) {
  WorkerSettings settings{.workers = 1, .service_time = ServiceTime::bimodal(100ms, 0.5, 1s)};
  test::ScriptedRandom random{0.6, 0.1, 0.9};
  WorkerQueue<char> queue(settings);
  for (const char item : {'A', 'B', 'C'}) queue.arrive(kShift, item, random);
  EXPECT_EQ(random.left(), 2u);
  EXPECT_EQ(queue.next_event(), kShift + 100ms);
  EXPECT_EQ(queue.take(kShift + 100ms, random)->item, 'A');
  EXPECT_EQ(queue.next_event(), kShift + 1100ms);
  EXPECT_EQ(queue.take(kShift + 1100ms, random)->item, 'B');
  EXPECT_EQ(queue.next_event(), kShift + 1200ms);
  EXPECT_EQ(random.left(), 0u);
}

// A short one that starts later is done before a long one.
TEST(WorkerQueue, GivesOutRequestsInTheOrderOfTheirEnds) {
  test::ScriptedRandom random{0.1, 0.9, 0.9};
  WorkerQueue<char> queue({.workers = 2, .service_time = ServiceTime::bimodal(100ms, 0.5, 1s)});
  for (const char item : {'A', 'B', 'C'}) queue.arrive(kShift, item, random);
  EXPECT_EQ(queue.take(kShift + 1h, random)->item, 'B');
  EXPECT_EQ(queue.next_event(), kShift + 1s);
}

// A timer that is a little late, as on a busy machine, costs no capacity.
TEST(WorkerQueue, StartsTheNextWhenTheOneBeforeWasDue) {
  Workers workers(with(1));
  for (const char item : {'A', 'B', 'C', 'D'}) workers.arrive(kShift, item);
  EXPECT_EQ(workers.take(kShift + 115ms), "A");
  EXPECT_EQ(workers.queue.next_event(), kShift + 200ms);
  workers.arrive(kShift + 215ms, 'E');  // events that are due happen before an arrival
  EXPECT_EQ(workers.queue.next_event(), kShift + 215ms);
  EXPECT_EQ(workers.take(kShift + 215ms), "B");
  EXPECT_EQ(workers.queue.next_event(), kShift + 300ms);
}

// A frozen server does not work. When it wakes, the requests that were being served are done, and the
// others are where they were.
TEST(WorkerQueue, DoesNotWorkWhileItIsFrozen) {
  Workers workers(with(1));
  for (const char item : {'A', 'B', 'C', 'D'}) workers.arrive(kShift, item);
  EXPECT_EQ(workers.take(kShift + 10s), "A");
  EXPECT_EQ(workers.queue.next_event(), kShift + 10s - 20ms + 100ms);
}

TEST(WorkerQueue, ServesTheNewestFirstWhenLastInIsFirstOut) {
  WorkerSettings settings = with(1);
  settings.order = {.kind = QueueOrder::Kind::kLifo};
  Workers workers(settings);
  for (const char item : {'X', 'A', 'B', 'C', 'D'}) workers.arrive(kShift, item);
  EXPECT_EQ(workers.take(kShift + 100ms), "X");
  workers.arrive(kShift + 150ms, 'E');
  std::string rest;
  for (int i = 2; i <= 6; ++i) rest += workers.take(kShift + i * 100ms);
  EXPECT_EQ(rest, "DECBA");
}

// HHVM's rule at a threshold of 2.
TEST(WorkerQueue, ServesTheNewestFirstWhileManyWait) {
  WorkerSettings settings = with(1);
  settings.order = {.kind = QueueOrder::Kind::kAdaptiveLifo, .threshold = 2};
  Workers workers(settings);
  for (const char item : {'X', 'A', 'B', 'C', 'D'}) workers.arrive(kShift, item);
  std::string all;
  for (int i = 1; i <= 5; ++i) all += workers.take(kShift + i * 100ms);
  EXPECT_EQ(all, "XDCAB");
}

TEST(WorkerQueue, HasABoundedNumberOfPlaces) {
  WorkerSettings settings = with(2);
  settings.queue_length = 1;
  Workers workers(settings);
  workers.arrive(kShift, 'A');
  workers.arrive(kShift, 'B');
  EXPECT_FALSE(workers.queue.full());
  workers.arrive(kShift, 'C');
  EXPECT_TRUE(workers.queue.full());
  workers.queue.advance(kShift + 100ms, workers.random);
  EXPECT_FALSE(workers.queue.full());

  settings.queue_length = 0;
  Workers without(settings);
  without.arrive(kShift, 'A');
  EXPECT_FALSE(without.queue.full());
  without.arrive(kShift, 'B');
  EXPECT_TRUE(without.queue.full());
}

TEST(WorkerQueue, DropsRequestsThatHaveWaitedTooLong) {
  WorkerSettings settings = with(1);
  settings.drop = {.kind = QueueDrop::Kind::kAge, .time = 150ms};
  Workers workers(settings);
  workers.arrive(kShift, 'X');
  workers.arrive(kShift, 'A');
  workers.arrive(kShift + 10ms, 'B');
  workers.arrive(kShift + 49ms, 'C');
  workers.arrive(kShift + 50ms, 'D');
  EXPECT_EQ(workers.take(kShift + 100ms), "X");  // A has waited for 100 ms
  EXPECT_EQ(workers.queue.concurrency(), 4u);
  // B for 190 ms and C for 151 ms at its end, but D for no more than 150 ms.
  EXPECT_EQ(workers.take(kShift + 200ms), "Abc");
  EXPECT_EQ(workers.queue.concurrency(), 1u);
  EXPECT_EQ(workers.take(kShift + 300ms), "D");
}

// In every order, it is the oldest request that has waited too long.
TEST(WorkerQueue, DropsTheOldestAlsoWhenTheNewestIsServed) {
  WorkerSettings settings = with(1);
  settings.drop = {.kind = QueueDrop::Kind::kAge, .time = 150ms};
  settings.order = {.kind = QueueOrder::Kind::kLifo};
  Workers workers(settings);
  for (const char item : {'X', 'A', 'B'}) workers.arrive(kShift, item);
  EXPECT_EQ(workers.take(kShift + 100ms), "X");
  workers.arrive(kShift + 120ms, 'C');
  EXPECT_EQ(workers.take(kShift + 200ms), "Ba");
  EXPECT_EQ(workers.take(kShift + 300ms), "C");
}

// Requests that find a free worker count too: their wait is the shortest.
TEST(WorkerQueue, DropsByControlledDelay) {
  WorkerSettings settings = with(1, 60ms);
  settings.drop = {.kind = QueueDrop::Kind::kCoDel, .time = 5ms, .interval = 100ms};
  Workers workers(settings);
  for (const char item : {'A', 'B', 'C', 'D', 'E', 'F', 'G'}) workers.arrive(kShift, item);
  // A is taken after 0 ms. B is taken after 60 ms, in a new interval; the one before had a wait of 0, so
  // nothing is dropped. So C is taken after 120 ms. D comes after 180 ms, in the next interval; the
  // shortest wait of the one before was 60 ms. D is the first of its interval. E, after 240 ms, is
  // dropped, and so are all that would be taken with it.
  EXPECT_EQ(workers.take(kShift + 60ms), "A");
  EXPECT_EQ(workers.take(kShift + 120ms), "B");
  EXPECT_EQ(workers.take(kShift + 180ms), "C");
  EXPECT_EQ(workers.take(kShift + 240ms), "Defg");
  EXPECT_EQ(workers.queue.concurrency(), 0u);
}

// A refusal on arrival that costs time goes before all waiting requests, but needs a worker.
TEST(WorkerQueue, NeedsAFreeWorkerToRefuse) {
  WorkerSettings settings = with(1);
  settings.rejection_cost = 30ms;
  Workers workers(settings);
  workers.refuse(kShift, 'Z');
  EXPECT_EQ(workers.queue.busy(), 1u);
  EXPECT_EQ(workers.queue.concurrency(), 0u);
  EXPECT_EQ(workers.queue.waiting(), 0u);
  workers.arrive(kShift, 'A');
  workers.refuse(kShift, 'Y');
  EXPECT_EQ(workers.take(kShift + 30ms), "z");
  EXPECT_EQ(workers.take(kShift + 60ms), "y");
  EXPECT_EQ(workers.queue.next_event(), kShift + 160ms);
  EXPECT_EQ(workers.take(kShift + 160ms), "A");
}

TEST(WorkerQueue, GivesARefusalItsOwnAnswer) {
  WorkerSettings settings = with(1);
  settings.rejection_cost = 30ms;
  Workers workers(settings);
  workers.refuse(kShift, 'Z');
  const auto given = workers.queue.take(kShift + 30ms, workers.random);
  ASSERT_NE(given->answer, nullptr);
  EXPECT_EQ(*given->answer, (Answer{.rejection = Rejection::kShed, .retry_after = 7s}));
}

TEST(WorkerQueue, TakesTheTimeOfAWorkerForEachThatIsDropped) {
  WorkerSettings settings = with(1);
  settings.drop = {.kind = QueueDrop::Kind::kAge, .time = 50ms};
  settings.rejection_cost = 30ms;
  Workers workers(settings);
  for (const char item : {'X', 'A', 'B'}) workers.arrive(kShift, item);
  workers.arrive(kShift + 120ms, 'C');
  EXPECT_EQ(workers.take(kShift + 120ms), "X");
  EXPECT_EQ(workers.queue.concurrency(), 2u);  // B and C: A is being refused
  EXPECT_EQ(workers.take(kShift + 130ms), "a");
  EXPECT_EQ(workers.take(kShift + 160ms), "b");
  EXPECT_EQ(workers.take(kShift + 260ms), "C");
}

TEST(WorkerQueue, ForgetsAWaitingRequestThatIsCancelled) {
  Workers workers(with(1));
  workers.arrive(kShift, 'X');
  workers.arrive(kShift, 'A');
  const auto b = workers.arrive(kShift, 'B');
  workers.arrive(kShift, 'C');
  workers.queue.cancel(kShift + 10ms, b, workers.random);
  EXPECT_EQ(workers.queue.concurrency(), 3u);
  EXPECT_EQ(workers.queue.waiting(), 2u);
  EXPECT_EQ(workers.take(kShift + 100ms), "X");
  EXPECT_EQ(workers.take(kShift + 200ms), "A");
  EXPECT_EQ(workers.take(kShift + 300ms), "C");
  EXPECT_EQ(workers.queue.concurrency(), 0u);
}

TEST(WorkerQueue, FreesTheWorkerOfOneThatIsCancelled) {
  Workers workers(with(2));
  const auto a = workers.arrive(kShift, 'A');
  workers.arrive(kShift + 10ms, 'B');
  workers.arrive(kShift + 20ms, 'C');
  workers.queue.cancel(kShift + 50ms, a, workers.random);
  EXPECT_EQ(workers.queue.busy(), 2u);
  EXPECT_EQ(workers.queue.waiting(), 0u);
  EXPECT_EQ(workers.queue.next_event(), kShift + 110ms);
  EXPECT_EQ(workers.take(kShift + 1h), "BC");
}

// A request that was done when it is cancelled, as by a client that left a frozen server.
TEST(WorkerQueue, ForgetsAFinishedRequestThatIsCancelled) {
  Workers workers(with(1));
  const auto a = workers.arrive(kShift, 'A');
  workers.arrive(kShift, 'B');
  workers.queue.cancel(kShift + 5s, a, workers.random);
  EXPECT_EQ(workers.queue.concurrency(), 1u);
  EXPECT_EQ(workers.take(kShift + 5s), "");
  EXPECT_EQ(workers.take(kShift + 6s), "B");
}

TEST(WorkerQueue, ForgetsARefusalThatIsCancelled) {
  WorkerSettings settings = with(1);
  settings.rejection_cost = 30ms;
  Workers workers(settings);
  const auto z = workers.refuse(kShift, 'Z');
  const auto y = workers.refuse(kShift, 'Y');
  workers.refuse(kShift, 'W');
  workers.queue.cancel(kShift, y, workers.random);
  workers.queue.cancel(kShift + 10ms, z, workers.random);
  EXPECT_EQ(workers.queue.next_event(), kShift + 40ms);
  EXPECT_EQ(workers.take(kShift + 1h), "w");
  EXPECT_EQ(workers.queue.concurrency(), 0u);
  EXPECT_EQ(workers.queue.busy(), 0u);
}

// Many clients leave a service that serves hardly any of them. Cancelled requests take no memory, and
// the rest keep their order. (A ticket is the number of a place.)
TEST(WorkerQueue, ReusesThePlacesOfCancelledRequests) {
  Workers workers(with(1, 1000h));
  workers.arrive(kShift, 'X');
  const auto kept = workers.arrive(kShift, 'A');
  WorkerQueue<char>::Ticket greatest = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto ticket = workers.arrive(kShift + i * 1ms, 'B');
    greatest = std::max(greatest, ticket);
    workers.queue.cancel(kShift + i * 1ms, ticket, workers.random);
  }
  EXPECT_LT(greatest, 10u);
  EXPECT_NE(greatest, kept);
  EXPECT_EQ(workers.queue.waiting(), 1u);
  workers.arrive(kShift + 11s, 'C');
  EXPECT_EQ(workers.take(kShift + 1000h), "X");
  EXPECT_EQ(workers.take(kShift + 2000h), "A");
  EXPECT_EQ(workers.take(kShift + 3000h), "C");
}

TEST(WorkerQueue, StartsMoreWhenItHasMoreWorkers) {
  Workers workers(with(1));
  for (const char item : {'A', 'B', 'C', 'D'}) workers.arrive(kShift, item);
  workers.queue.configure(kShift + 10ms, with(3), workers.random);
  EXPECT_EQ(workers.queue.busy(), 3u);
  EXPECT_EQ(workers.take(kShift + 100ms), "A");
  EXPECT_EQ(workers.take(kShift + 110ms), "BC");
  EXPECT_EQ(workers.take(kShift + 200ms), "D");
}

TEST(WorkerQueue, StartsNoneUntilAWorkerIsFreeWhenItHasFewerWorkers) {
  Workers workers(with(3));
  for (const char item : {'A', 'B', 'C', 'D', 'E'}) {
    workers.arrive(kShift + (item - 'A') * 10ms, item);
  }
  workers.queue.configure(kShift + 50ms, with(1), workers.random);
  EXPECT_EQ(workers.queue.busy(), 3u);
  EXPECT_TRUE(workers.queue.waiting() == 2u);
  EXPECT_EQ(workers.take(kShift + 100ms), "A");
  EXPECT_EQ(workers.take(kShift + 110ms), "B");
  EXPECT_EQ(workers.queue.busy(), 1u);
  EXPECT_EQ(workers.take(kShift + 120ms), "C");
  EXPECT_EQ(workers.take(kShift + 220ms), "D");
  EXPECT_EQ(workers.take(kShift + 320ms), "E");
}

// Requests that are being served keep their times.
TEST(WorkerQueue, AppliesNewTimesOrdersAndDropsFromThenOn) {
  Workers workers(with(1));
  for (const char item : {'X', 'A', 'B', 'C', 'D'}) workers.arrive(kShift, item);
  WorkerSettings slow = with(1, 300ms);
  slow.order = {.kind = QueueOrder::Kind::kLifo};
  workers.queue.configure(kShift + 50ms, slow, workers.random);
  EXPECT_EQ(workers.take(kShift + 100ms), "X");
  EXPECT_EQ(workers.take(kShift + 399ms), "");
  EXPECT_EQ(workers.take(kShift + 400ms), "D");
  slow.drop = {.kind = QueueDrop::Kind::kAge, .time = 600ms};
  workers.queue.configure(kShift + 410ms, slow, workers.random);
  EXPECT_EQ(workers.take(kShift + 700ms), "Cab");
}

TEST(WorkerQueue, GivesOutAllWhenItEnds) {
  WorkerSettings settings = with(1);
  settings.rejection_cost = 30ms;
  Workers workers(settings);
  for (const char item : {'A', 'B', 'C'}) workers.arrive(kShift, item);
  workers.refuse(kShift, 'Z');
  workers.queue.cancel(kShift, workers.arrive(kShift, 'D'), workers.random);
  workers.arrive(kShift + 100ms, 'E');
  std::string all;
  while (const auto given = workers.queue.take_any()) {
    all += given->item;
    if (given->answer == nullptr) workers.queue.leave();
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, "ABCEZ");
  EXPECT_EQ(workers.queue.concurrency(), 0u);
  EXPECT_EQ(workers.queue.busy(), 0u);
  EXPECT_EQ(workers.queue.waiting(), 0u);
}

TEST(WorkerQueue, HoldsMoveOnlyValues) {
  test::ScriptedRandom random{};
  WorkerQueue<std::unique_ptr<int>> queue(with(1, 0s));
  queue.arrive(kShift, std::make_unique<int>(7), random);
  EXPECT_EQ(*queue.take(kShift, random)->item, 7);
}

// No request is lost or comes twice, whatever happens. Many seeds, each with all disciplines.
TEST(WorkerQueue, GivesOutEachRequestOnce) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    ClientRandom random(seed, 1);
    WorkerSettings settings{.workers = 1 + seed % 4,
                            .service_time = ServiceTime::exponential(100ms),
                            .rejection_cost = seed % 2 == 0 ? 0ms : 20ms};
    WorkerQueue<int> queue(settings);
    std::vector<int> fates(2000, 0);
    std::vector<WorkerQueue<int>::Ticket> tickets(fates.size());
    std::size_t leaving = 0;
    TimePoint now = kShift;
    const auto take_all = [&] {
      while (const auto given = queue.take(now, random)) {
        ++fates[static_cast<std::size_t>(given->item)];
        if (given->answer == nullptr) queue.leave();
      }
    };
    for (int i = 0; i < 2000; ++i) {
      now += random.exponential(40ms);
      take_all();
      queue.advance(now, random);
      const auto index = static_cast<std::size_t>(i);
      tickets[index] = random.uniform() < 0.1
                           ? queue.refuse(now, i, {.rejection = Rejection::kShed}, random)
                           : queue.arrive(now, i, random);
      if (random.uniform() < 0.2) {
        const std::size_t other = index - std::min(index, std::size_t(random.uniform() * 8));
        if (fates[other] == 0) {
          queue.cancel(now, tickets[other], random);
          ++fates[other];
          ++leaving;
        }
      }
      if (i % 100 == 0) {
        settings.workers = 1 + static_cast<std::size_t>(random.uniform() * 6);
        settings.order.kind = static_cast<QueueOrder::Kind>(random.uniform() * 3);
        settings.order.threshold = 5;
        settings.drop = {.kind = static_cast<QueueDrop::Kind>(random.uniform() * 3),
                         .time = 50ms,
                         .interval = 100ms};
        queue.configure(now, settings, random);
      }
      ASSERT_TRUE(queue.busy() == 0 || queue.next_event() != TimePoint::max());
    }
    while (queue.next_event() != TimePoint::max()) {
      now = std::max(now, queue.next_event());
      take_all();
    }
    for (std::size_t i = 0; i < fates.size(); ++i) ASSERT_EQ(fates[i], 1) << seed << ' ' << i;
    EXPECT_GT(leaving, 100u);
    EXPECT_EQ(queue.concurrency(), 0u);
    EXPECT_EQ(queue.busy(), 0u);
    EXPECT_EQ(queue.waiting(), 0u);
  }
}

}  // namespace
}  // namespace retrystorm
