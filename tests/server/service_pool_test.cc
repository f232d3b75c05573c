#include "server/service_pool.h"

#include <future>
#include <latch>
#include <new>

#include "tests/support/test.h"

namespace retrystorm {
namespace {

constexpr std::uint64_t kSeed = 1;

ServiceOptions of_delay(Duration base_delay) {
  return {.base_delay = base_delay, .max_connections = 10'000};
}

// A pool whose jobs are functions.
class ServicePool : public retrystorm::ServicePool {
 public:
  using retrystorm::ServicePool::ServicePool;

  void accept(std::function<void()> answer, std::function<bool()> is_abandoned = {}) {
    retrystorm::ServicePool::accept(
        std::make_unique<Function>(std::move(answer), std::move(is_abandoned)));
  }

 private:
  class Function final : public Job {
   public:
    Function(std::function<void()> answer, std::function<bool()> is_abandoned)
        : answer_(std::move(answer)), is_abandoned_(std::move(is_abandoned)) {}
    void answer() override { answer_(); }
    bool is_abandoned() const override { return is_abandoned_ && is_abandoned_(); }

   private:
    const std::function<void()> answer_;
    const std::function<bool()> is_abandoned_;
  };
};

TEST(ServicePool, RunsAJobWhenItsDelayIsOver) {
  std::promise<TimePoint> ran;
  ServicePool pool(of_delay(20ms), kSeed);
  const TimePoint start = Clock::now();
  pool.accept([&] { ran.set_value(Clock::now()); });
  EXPECT_GE(ran.get_future().get() - start, 20ms);
}

TEST(ServicePool, CountsArrivalsAndDepartures) {
  std::latch ran(3);
  ServicePool pool(of_delay(0s), kSeed);
  for (int i = 0; i < 3; ++i) {
    pool.accept([&, i] {
      if (i == 1) ServicePool::count_as_served();
      ran.count_down();
    });
  }
  ran.wait();
  pool.stop();
  pool.join();
  const ServerInterval interval = pool.take_interval();
  EXPECT_EQ(interval.counts.offered, 3);
  EXPECT_EQ(interval.counts.admitted, 3);
  EXPECT_EQ(interval.counts.completed, 3);
  EXPECT_EQ(interval.counts.served, 1);
  EXPECT_EQ(interval.concurrency, 0);
  EXPECT_EQ(pool.take_interval().counts.admitted, 0);
}

TEST(ServicePool, RunsAllParkedJobsWhenStopped) {
  std::atomic<int> ran = 0;
  {
    ServicePool pool(of_delay(1h), kSeed);
    for (int i = 0; i < 5000; ++i) pool.accept([&] { ++ran; });
    EXPECT_EQ(ran, 0);
    pool.stop();
    pool.join();
    EXPECT_EQ(ran, 5000);
  }
  EXPECT_EQ(ran, 5000);
}

TEST(ServicePool, TellsTheJobWhetherItWasAdmitted) {
  ServiceOptions options = of_delay(1h);
  options.shed_above = 1;
  std::promise<Answer> second;
  ServicePool pool(options, kSeed);
  pool.accept([] {});
  pool.accept([&] { second.set_value(ServicePool::current_answer()); });
  // The second is answered at once, although the first takes an hour.
  EXPECT_EQ(second.get_future().get(), (Answer{.rejection = Rejection::kShed, .retry_after = 1s}));
  const ServerInterval interval = pool.take_interval();
  EXPECT_EQ(interval.counts.rejected[index_of(Rejection::kShed)], 1);
  EXPECT_EQ(interval.counts.offered, 2);
  EXPECT_EQ(interval.counts.admitted, 1);
  EXPECT_EQ(interval.concurrency, 1);
}

// One worker. The client of the second request hangs up while it waits.
TEST(ServicePool, ClosesWithoutAnAnswerTheConnectionOfAClientThatHasHungUp) {
  ServiceOptions options{.capacity = Capacity::kWorkers, .max_connections = 10'000};
  options.workers = {.workers = 1, .service_time = ServiceTime::fixed(50ms)};
  options.abandoned = Abandoned::kSkip;
  std::atomic<int> looks = 0;  // the client is still there when its request is accepted
  std::atomic<int> answered = 0;
  std::promise<void> done;
  const auto connection = std::make_shared<int>();
  ServicePool pool(options, kSeed);
  pool.accept([&] { ++answered; });
  pool.accept([&, connection] { ++answered; }, [&] { return ++looks > 1; });
  pool.accept([&] { done.set_value(); });
  done.get_future().wait();
  EXPECT_EQ(answered, 1);
  EXPECT_EQ(connection.use_count(), 1);
  const ServerInterval interval = pool.take_interval();
  EXPECT_EQ(interval.counts.admitted, 3);
  EXPECT_EQ(interval.counts.rejected[index_of(Rejection::kAbandoned)], 1);
}

TEST(ServicePool, BlocksAtMostConnectionsUntilOneHasLeft) {
  ServiceOptions options = of_delay(0s);
  options.max_connections = 1;
  ServicePool pool(options, kSeed);
  // Each connection is accepted after the previous one has left, so only one is inside at a time.
  std::atomic<int> inside = 0, most = 0;
  for (int i = 0; i < 1000; ++i) {
    pool.accept([&] {
      most = std::max(most.load(), ++inside);
      std::this_thread::yield();
      --inside;
    });
    // This would also detect a second one in the service that does not run yet.
    ASSERT_LE(pool.take_interval().concurrency, 1);
  }
  pool.stop();
  pool.join();
  EXPECT_EQ(most, 1);
}

TEST(ServicePool, RunsConnectionsAcceptedAfterTheStop) {
  std::atomic<int> ran = 0;
  ServicePool pool(of_delay(1h), kSeed);
  pool.accept([&] { ++ran; });
  pool.stop();
  while (ran < 1) std::this_thread::yield();
  pool.accept([&] { ++ran; });
  pool.join();
  EXPECT_EQ(ran, 2);
}

TEST(ServicePool, OutlivesAJobThatThrows) {
  ServicePool pool(of_delay(0s), kSeed);
  for (int i = 0; i < 20; ++i) pool.accept([] { throw std::bad_alloc(); });
  std::promise<void> ran;
  pool.accept([&] { ran.set_value(); });
  EXPECT_EQ(ran.get_future().wait_for(10s), std::future_status::ready);
  pool.stop();
  pool.join();
  EXPECT_EQ(pool.totals().counts.completed, 21);
  EXPECT_EQ(pool.totals().concurrency, 0);
}

// Each worker is blocked for a while, but never all of them for long.
TEST(ServicePool, GrowsWhenReadyConnectionsWaitTooLong) {
  constexpr int kJobs = 400;
  std::latch all(kJobs);
  ServicePool pool(of_delay(0s), kSeed);
  for (int i = 0; i < kJobs; ++i) {
    // Staggered, so that jobs begin all the time. Even on a slow machine, four workers would be
    // blocked for about 1.5 s.
    pool.accept([&all, i] {
      std::this_thread::sleep_for(15ms + (i % 4) * 1ms);
      all.count_down();
    });
  }
  all.wait();
  EXPECT_GT(pool.workers(), 4);
}

TEST(ServicePool, EndsTheThreadsOfABurst) {
  std::promise<void> let_go;
  std::shared_future<void> held = let_go.get_future();
  std::latch started(50);
  ServicePool pool(of_delay(0s), kSeed);
  for (int i = 0; i < 50; ++i) {
    pool.accept([&started, held] {
      started.count_down();
      held.wait();
    });
  }
  started.wait();
  EXPECT_GE(pool.workers(), 50);
  let_go.set_value();
  // The number of workers falls even while there is a little work.
  const TimePoint patience = Clock::now() + 30s;
  while (pool.workers() > 4 && Clock::now() < patience) {
    std::promise<void> ran;
    pool.accept([&] { ran.set_value(); });
    ran.get_future().wait();
    std::this_thread::sleep_for(5ms);
  }
  EXPECT_EQ(pool.workers(), 4);
}

// The late connection comes after a calm time: no other one is ready, and all workers are blocked.
TEST(ServicePool, FewBlockedWorkersDoNotDelayALateConnection) {
  std::promise<void> let_go, ran;
  std::shared_future<void> held = let_go.get_future();
  std::latch started(4);
  ServicePool pool(of_delay(0s), kSeed);
  for (int i = 0; i < 4; ++i) {
    pool.accept([&started, held] {
      started.count_down();
      held.wait();
    });
  }
  started.wait();
  pool.accept([&] { ran.set_value(); });
  EXPECT_EQ(ran.get_future().wait_for(10s), std::future_status::ready);
  let_go.set_value();
}

TEST(ServicePool, BlockedWorkersDoNotDelayOtherConnections) {
  std::promise<void> let_go, ran;
  std::shared_future<void> held = let_go.get_future();
  ServicePool pool(of_delay(0s), kSeed);
  for (int i = 0; i < 100; ++i) pool.accept([held] { held.wait(); });
  pool.accept([&] { ran.set_value(); });
  EXPECT_EQ(ran.get_future().wait_for(10s), std::future_status::ready);
  let_go.set_value();
}

}  // namespace
}  // namespace retrystorm
