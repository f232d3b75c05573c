#include "server/service_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

ServiceOptions of_delay(Duration base_delay) {
  return {.base_delay = base_delay, .max_connections = 10'000};
}

TEST(ServicePool, RunsAJobWhenItsDelayIsOver) {
  std::promise<TimePoint> ran;
  ServicePool pool(of_delay(20ms));
  const TimePoint start = Clock::now();
  pool.accept([&] { ran.set_value(Clock::now()); });
  EXPECT_GE(ran.get_future().get() - start, 20ms);
}

TEST(ServicePool, CountsWhatCameAndWent) {
  std::latch ran(3);
  ServicePool pool(of_delay(0s));
  for (int i = 0; i < 3; ++i) pool.accept([&] { ran.count_down(); });
  ran.wait();
  pool.stop();
  pool.join();
  const ServerInterval interval = pool.take_interval();
  EXPECT_EQ(interval.arrivals, 3);
  EXPECT_EQ(interval.departures, 3);
  EXPECT_EQ(interval.concurrency, 0);
  EXPECT_EQ(pool.take_interval().arrivals, 0);
}

TEST(ServicePool, KeepsThoseWhoseTimeHasNotCome) {
  ServicePool pool(of_delay(1h));
  for (int i = 0; i < 40; ++i) pool.accept([] {});
  const ServerInterval interval = pool.take_interval();
  EXPECT_EQ(interval.concurrency, 40);
  EXPECT_EQ(interval.departures, 0);
  EXPECT_EQ(interval.last_delay, ServiceOptions{.base_delay = 1h}.curve().delay(40));
}

TEST(ServicePool, RunsAllThatIsParkedWhenStopped) {
  std::atomic<int> ran = 0;
  {
    ServicePool pool(of_delay(1h));
    for (int i = 0; i < 5000; ++i) pool.accept([&] { ++ran; });
    EXPECT_EQ(ran, 0);
    pool.stop();
    pool.join();
    EXPECT_EQ(ran, 5000);
  }
  EXPECT_EQ(ran, 5000);
}

TEST(ServicePool, TellsTheJobWhetherItWasLetIn) {
  ServiceOptions options = of_delay(1h);
  options.shed_above = 1;
  std::promise<std::pair<Admission, Duration>> second;
  ServicePool pool(options);
  pool.accept([] {});
  pool.accept([&] {
    second.set_value({ServicePool::current_admission(), ServicePool::current_retry_after()});
  });
  // At once, though the first takes an hour.
  EXPECT_EQ(second.get_future().get(), std::pair(Admission::kShed, Duration(1s)));
  const ServerInterval interval = pool.take_interval();
  EXPECT_EQ(interval.rejected_503, 1);
  EXPECT_EQ(interval.arrivals, 1);
  EXPECT_EQ(interval.concurrency, 1);
}

TEST(ServicePool, BlocksTheOneThatIsTooManyUntilOneHasLeft) {
  ServiceOptions options = of_delay(0s);
  options.max_connections = 1;
  std::promise<void> let_go;
  std::atomic<bool> first_over = false;
  ServicePool pool(options);
  pool.accept([&] {
    let_go.get_future().wait();
    first_over = true;
  });
  auto second = std::async(std::launch::async, [&] {
    pool.accept([] {});
    return first_over.load();
  });
  let_go.set_value();
  EXPECT_TRUE(second.get());
}

// One that comes after a calm: nothing was ready, and nothing has been taken since.
TEST(ServicePool, FewWorkersThatAreHeldUpDoNotHoldUpALateOne) {
  std::promise<void> let_go, ran;
  std::shared_future<void> held = let_go.get_future();
  std::latch started(4);
  ServicePool pool(of_delay(0s));
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

TEST(ServicePool, WorkersThatAreHeldUpDoNotHoldUpTheOthers) {
  std::promise<void> let_go, ran;
  std::shared_future<void> held = let_go.get_future();
  ServicePool pool(of_delay(0s));
  for (int i = 0; i < 100; ++i) pool.accept([held] { held.wait(); });
  pool.accept([&] { ran.set_value(); });
  EXPECT_EQ(ran.get_future().wait_for(10s), std::future_status::ready);
  let_go.set_value();
}

}  // namespace
}  // namespace retrystorm
