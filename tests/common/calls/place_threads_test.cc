#include <condition_variable>
#include <mutex>

#include "common/calls/threads.h"
#include "tests/support/child_process.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

// Runs arrivals that last until the test ends them.
class ServedArrivals {
 public:
  explicit ServedArrivals(std::size_t most, Duration idle_time = 1h) : threads_(most, idle_time) {}
  ~ServedArrivals() {
    std::unique_lock lock(mutex_);
    under_way_.clear();
    changed_.notify_all();
    lock.unlock();
    threads_.stop();
  }

  // Returns the place that it got.
  std::size_t start(std::uint64_t number) {
    EXPECT_TRUE(begin(number));
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return under_way_.contains(number); });
    return places_[number];
  }
  bool is_refused(std::uint64_t number) { return !begin(number); }

  // Its place is free only a moment later: see `start_when_free`.
  void end(std::uint64_t number) {
    const std::scoped_lock lock(mutex_);
    under_way_.erase(number);
    changed_.notify_all();
  }
  std::size_t start_when_free(std::uint64_t number) {
    EXPECT_TRUE(eventually([&] { return begin(number); }));
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return under_way_.contains(number); });
    return places_[number];
  }

  std::thread::id thread_at(std::size_t place) {
    const std::scoped_lock lock(mutex_);
    return at_[place];
  }
  std::size_t threads() const { return threads_.size(); }

 private:
  bool begin(std::uint64_t number) {
    return threads_.start([this, number](std::size_t place) {
      std::unique_lock lock(mutex_);
      places_[number] = place;
      at_[place] = std::this_thread::get_id();
      under_way_.insert(number);
      changed_.notify_all();
      changed_.wait(lock, [&] { return !under_way_.contains(number); });
    });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::uint64_t> under_way_;
  std::map<std::uint64_t, std::size_t> places_;
  std::map<std::size_t, std::thread::id> at_;
  PlaceThreads threads_;
};

TEST(PlaceThreads, RefuseAnArrivalWithoutAFreeThread) {
  ServedArrivals arrivals(2);
  arrivals.start(0);
  arrivals.start(1);
  EXPECT_TRUE(arrivals.is_refused(2));
  EXPECT_TRUE(arrivals.is_refused(3));
  arrivals.end(0);
  EXPECT_EQ(arrivals.start_when_free(4), 0) << "the place of the one that has ended";
  EXPECT_TRUE(arrivals.is_refused(5));
}

TEST(PlaceThreads, ReuseAThread) {
  ServedArrivals arrivals(1);
  arrivals.start(0);
  const std::thread::id first = arrivals.thread_at(0);
  for (std::uint64_t i = 1; i < 20; ++i) {
    arrivals.end(i - 1);
    arrivals.start_when_free(i);
    EXPECT_EQ(arrivals.thread_at(0), first);
  }
  EXPECT_EQ(arrivals.threads(), 1);
}

// As in the simulator, so that requests of the same place share the same state.
TEST(PlaceThreads, ReuseThePlaceThatBecameFreeLast) {
  ServedArrivals arrivals(4);
  for (std::uint64_t i = 0; i < 4; ++i) arrivals.start(i);
  std::uint64_t next = 4;
  for (const std::uint64_t last : {2, 0, 3, 1}) {
    arrivals.end(last);
    EXPECT_EQ(arrivals.start_when_free(next++), last);
  }
}

TEST(PlaceThreads, EndWhenTheyAreNotNeeded) {
  ServedArrivals arrivals(10, 1ms);
  for (std::uint64_t i = 0; i < 10; ++i) arrivals.start(i);
  for (std::uint64_t i = 0; i < 9; ++i) arrivals.end(i);
  EXPECT_TRUE(eventually([&] { return arrivals.threads() == 1; }));
  // They start again when they are needed.
  std::set<std::size_t> places;
  for (std::uint64_t i = 10; i < 19; ++i) places.insert(arrivals.start(i));
  EXPECT_EQ(places, (std::set<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(arrivals.threads(), 10);
}

// Ends, idle times and arrivals coincide at random: for the thread sanitizer.
TEST(PlaceThreads, ServeEachArrivalOnce) {
  constexpr std::size_t kMost = 8;
  std::mutex mutex;
  std::vector<int> served(5000);
  std::size_t now = 0, most = 0, refused = 0;
  {
    PlaceThreads threads(kMost, 50us);
    for (std::uint64_t i = 0; i < served.size(); ++i) {
      const bool started = threads.start([&, i](std::size_t place) {
        EXPECT_LT(place, kMost);
        const std::scoped_lock lock(mutex);
        most = std::max(most, ++now);
        ++served[i];
        --now;
      });
      if (!started) {
        const std::scoped_lock lock(mutex);
        ++refused;
        ++served[i];
      }
      if (i % 100 == 0) std::this_thread::sleep_for(200us);
    }
    EXPECT_TRUE(eventually([&] {
      const std::scoped_lock lock(mutex);
      return std::all_of(served.begin(), served.end(), [](int each) { return each == 1; });
    }));
  }
  EXPECT_LE(most, kMost);
  EXPECT_LT(refused, served.size());
}

}  // namespace
}  // namespace retrystorm::test
