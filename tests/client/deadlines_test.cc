#include "client/deadlines.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

// Counts its calls.
class Called final : public Expiring {
 public:
  void expire() override {
    const std::scoped_lock lock(mutex_);
    ++calls_;
    changed_.notify_all();
  }

  // Returns whether there are so many in the end.
  bool calls(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 1min, [&] { return calls_ >= count; });
  }

  int calls() {
    const std::scoped_lock lock(mutex_);
    return calls_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int calls_ = 0;
};

TEST(Deadlines, KeepNothingOfWhatIsOver) {
  Deadlines deadlines;
  Called one, other;
  for (int i = 0; i < 10'000; ++i) {
    deadlines.begin(one, 24h);
    deadlines.begin(other, 24h);
    EXPECT_EQ(deadlines.size(), 2);
    deadlines.end(one);
    deadlines.end(other);
  }
  EXPECT_EQ(deadlines.size(), 0);
  EXPECT_EQ(one.calls() + other.calls(), 0);
}

// Who had nothing to be interrupted yet when its time came is called until it has.
TEST(Deadlines, CallAgainUntilItIsOver) {
  Deadlines deadlines;
  Called called;
  deadlines.begin(called, 1ms);
  EXPECT_TRUE(called.calls(3));
  EXPECT_EQ(deadlines.size(), 1);
  deadlines.end(called);
  EXPECT_EQ(deadlines.size(), 0);
  const int calls = called.calls();
  // Others are called since, and it is not.
  Called other;
  deadlines.begin(other, 1ms);
  EXPECT_TRUE(other.calls(3));
  deadlines.end(other);
  EXPECT_EQ(called.calls(), calls);
}

// What is being called may go as soon as `end` has returned.
TEST(Deadlines, EndWaitsForTheCallThatIsUnderWay) {
  Deadlines deadlines;
  class Slow final : public Expiring {
   public:
    void expire() override {
      begun = true;
      while (!go_on) std::this_thread::yield();
      done = true;
    }
    std::atomic<bool> begun{false}, go_on{false}, done{false};
  } slow;
  deadlines.begin(slow, Duration::zero());
  while (!slow.begun) std::this_thread::yield();
  std::jthread letting([&] { slow.go_on = true; });
  deadlines.end(slow);
  EXPECT_TRUE(slow.done);
}

TEST(Deadlines, ExpireTheFirstFirst) {
  Deadlines deadlines;
  std::mutex mutex;
  std::vector<int> order;
  class Ordered final : public Expiring {
   public:
    Ordered(int number, std::mutex& mutex, std::vector<int>& order)
        : number_(number), mutex_(mutex), order_(order) {}
    void expire() override {
      const std::scoped_lock lock(mutex_);
      if (!called_) order_.push_back(number_);
      called_ = true;
    }

   private:
    const int number_;
    std::mutex& mutex_;
    std::vector<int>& order_;
    bool called_ = false;
  };
  Ordered first(1, mutex, order), second(2, mutex, order), third(3, mutex, order);
  Called last;
  for (Expiring* each : std::initializer_list<Expiring*>{&first, &second, &third, &last}) {
    deadlines.begin(*each, 1ms);
  }
  EXPECT_TRUE(last.calls(1));
  for (Expiring* each : std::initializer_list<Expiring*>{&second, &last, &first, &third}) {
    deadlines.end(*each);
  }
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(deadlines.size(), 0);
}

// An attempt with less time than those that began before it goes before them.
TEST(Deadlines, ExpireBeforeOthersThatHaveMoreTime) {
  Deadlines deadlines;
  Called long_before, short_after;
  deadlines.begin(long_before, 1h);
  deadlines.begin(short_after, 1ms);
  EXPECT_TRUE(short_after.calls(1));
  deadlines.end(short_after);
  EXPECT_EQ(deadlines.size(), 1);
  deadlines.end(long_before);
}

}  // namespace
}  // namespace retrystorm
