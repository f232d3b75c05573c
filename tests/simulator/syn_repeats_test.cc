#include "simulator/syn_repeats.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

// The times, in seconds of the kernel, at which a SYN is repeated if it is dropped every time. At the last
// one the kernel gives up.
std::vector<std::int64_t> schedule(std::size_t linear) {
  SynRepeats repeats(linear);
  std::vector<std::int64_t> times;
  repeats.drop(TimePoint{}, {7, 1}, 0);
  while (true) {
    const auto repeat = repeats.take();
    times.push_back((repeat.time - TimePoint{}) / SynRepeats::kSecond);
    if (repeat.last) return times;
    repeats.drop(repeat.time, repeat.attempt, repeat.sent + 1);
  }
}

// According to Linux's documentation, with 6 retries, the last is sent at 67 s and the end is at 131 s.
// Before 6.5 these were 63 and 127 s.
TEST(SynRepeats, AreThoseOfTheKernel) {
  EXPECT_THAT(schedule(4), ElementsAre(1, 2, 3, 4, 5, 7, 11, 19, 35, 67, 131));
  EXPECT_THAT(schedule(0), ElementsAre(1, 3, 7, 15, 31, 63, 127));
}

// The client no longer waits at the second one, at 2.02 s.
TEST(SynRepeats, EndWithThePatienceOfTheirClients) {
  SynRepeats repeats(4, 2s);
  repeats.drop(TimePoint{}, {7, 1}, 0);
  EXPECT_EQ(repeats.next(), TimePoint{1010ms});
  const auto repeat = repeats.take();
  EXPECT_FALSE(repeat.last);
  repeats.drop(repeat.time, repeat.attempt, repeat.sent + 1);
  EXPECT_EQ(repeats.next(), TimePoint::max());
}

TEST(SynRepeats, HaveALastOneWithinATimeout) {
  const auto last = [](std::size_t linear, Duration timeout) {
    return SynRepeats(linear, timeout).last() / SynRepeats::kSecond;
  };
  EXPECT_EQ(last(4, 1s), 0);
  EXPECT_EQ(last(4, 1050ms), 1);
  EXPECT_EQ(last(4, 2050ms), 2);
  EXPECT_EQ(last(0, 2050ms), 1);
  EXPECT_EQ(last(4, 30s), 19);
  EXPECT_EQ(last(0, 30s), 15);
}

TEST(SynRepeats, ComeInTheOrderOfTheirTimes) {
  SynRepeats repeats(0);
  EXPECT_EQ(repeats.next(), TimePoint::max());
  repeats.drop(TimePoint{}, {1, 1}, 1);  // after two seconds
  repeats.drop(TimePoint{}, {2, 1}, 0);
  repeats.drop(TimePoint{500ms}, {3, 1}, 0);
  EXPECT_EQ(repeats.next(), TimePoint{1010ms});
  EXPECT_EQ(repeats.take().attempt.client, 2u);
  EXPECT_EQ(repeats.take().attempt.client, 3u);
  EXPECT_EQ(repeats.next(), TimePoint{2020ms});
  EXPECT_EQ(repeats.take().attempt.client, 1u);
  EXPECT_EQ(repeats.next(), TimePoint::max());
}

}  // namespace
}  // namespace retrystorm
