#include "model/service/service_queue.h"

#include "model/service/queue_rules.h"
#include "model/service/service_time.h"
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

TEST(ServiceQueue, FrontMovesWithEachArrivalAndLeave) {
  auto queue = steep_queue();
  queue.arrive(kStart, "a");
  queue.arrive(kStart, "b");
  EXPECT_EQ(queue.next_departure(), kStart + 1s);
  queue.arrive(kStart, "c");
  EXPECT_NEAR(to_seconds(queue.next_departure() - kStart), 2, 1e-8);
  queue.arrive(kStart, "d");
  EXPECT_NEAR(to_seconds(queue.next_departure() - kStart), 4, 1e-8);
  EXPECT_EQ(queue.depart(kStart + 3s), std::nullopt);
  // And earlier with each leave.
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

TEST(QueueRules, AreReadAsTheyArePrinted) {
  for (const char* text : {"fifo", "lifo", "adaptive-lifo:0", "adaptive-lifo:17", "unfair:0.1"}) {
    EXPECT_EQ(to_string(parse_queue_order(text)), text);
  }
  for (const char* text :
       {"", "FIFO", "fifo:1", "random", "adaptive-lifo", "adaptive-lifo:", "adaptive-lifo:-1",
        "adaptive-lifo:1.5", "adaptive-lifo:1:2", "unfair", "unfair:2", "unfair:0.1:1"}) {
    EXPECT_THROW(parse_queue_order(text), std::invalid_argument) << text;
  }
  for (const char* text : {"none", "age:1.5s", "codel:7ms:150ms"}) {
    EXPECT_EQ(to_string(parse_queue_drop(text)), text);
  }
  EXPECT_EQ(to_string(parse_queue_drop("codel")), "codel:5ms:100ms");
  for (const char* text :
       {"", "no", "age", "age:", "age:-1s", "age:1s:2s", "codel:", "codel:5ms",
        "codel:5ms:", "codel:0s:100ms", "codel:5ms:0s", "codel:5ms:100ms:1s", "length:5"}) {
    EXPECT_THROW(parse_queue_drop(text), std::invalid_argument) << text;
  }
}

// The trace of folly's rule: time and wait in milliseconds, and whether the request is dropped.
TEST(CoDel, DropsAsFollyDoes) {
  struct Asked {
    double now, wait;
    bool dropped;
  };
  CoDel codel(5ms, 100ms);
  for (const Asked& step :
       {Asked{1, 20, false}, Asked{2, 20, false}, Asked{3, 20, true}, Asked{4, 8, false},
        Asked{5, 10, false}, Asked{5, 10.001, true}, Asked{50, 3, false}, Asked{103, 30, false},
        Asked{104, 30, false}, Asked{204, 30, false}, Asked{205, 30, true}}) {
    EXPECT_EQ(
        codel.overloaded(TimePoint(from_seconds(step.now / 1e3)), from_seconds(step.wait / 1e3)),
        step.dropped)
        << step.now << " " << step.wait;
  }
}

const ServiceCurve kArticle(100ms, 30, 1.05, 15);

TEST(ServiceCurve, IsFlatUpToTheLimit) {
  EXPECT_EQ(kArticle.delay(0), 100ms);
  EXPECT_EQ(kArticle.delay(1), 100ms);
  EXPECT_EQ(kArticle.delay(30), 100ms);
  EXPECT_GT(kArticle.delay(31), 100ms);
  const ServiceCurve flat(5ms, 0, 1, 15);
  EXPECT_EQ(flat.delay(1), 5ms);
  EXPECT_EQ(flat.delay(1'000'000), 5ms);
  EXPECT_TRUE(std::isinf(flat.best_concurrency()));
  EXPECT_EQ(ServiceCurve(0s, 0, 1e9, 1e-9).delay(1'000'000), 0s);
}

TEST(ServiceCurve, GrowsByTheFactorForEveryKRequests) {
  EXPECT_NEAR(to_seconds(kArticle.delay(45)), 0.105, 1e-9);
  EXPECT_NEAR(to_seconds(kArticle.delay(60)), 0.11025, 1e-9);
  const ServiceCurve doubling(1s, 10, 2, 5);
  EXPECT_NEAR(to_seconds(doubling.delay(15)), 2, 1e-8);
  EXPECT_NEAR(to_seconds(doubling.delay(25)), 8, 1e-8);
  // The log in the article.
  EXPECT_EQ(format_duration(kArticle.delay(1040)), "2.671444385s");
  EXPECT_EQ(format_duration(kArticle.delay(1599)), "16.458895305s");
  EXPECT_EQ(format_duration(kArticle.delay(1925)), "47.524196455s");
  EXPECT_EQ(format_duration(kArticle.delay(2231)), "2m8.580906589s");
}

// 0.1 * 1.05^((c - 30)/15) passes 2^63 ns between 7792 (9.2205e18 ns) and 7793 (9.2506e18 ns).
TEST(ServiceCurve, SaturatesWhereTheOriginalOverflows) {
  EXPECT_GT(kArticle.delay(7792), 290 * 365 * 24h);
  EXPECT_LT(kArticle.delay(7792), Duration::max());
  EXPECT_EQ(kArticle.delay(7793), Duration::max());
  EXPECT_EQ(kArticle.delay(20'000), Duration::max());
  EXPECT_EQ(kArticle.delay(1'000'000'000), Duration::max());
  EXPECT_EQ(kArticle.delay(std::numeric_limits<std::size_t>::max()), Duration::max());
  EXPECT_EQ(ServiceCurve(1ns, 0, 1e9, 1e-9).delay(1), Duration::max());
  EXPECT_EQ(ServiceCurve(Duration::max(), 0, 1.05, 15).delay(1), Duration::max());
}

TEST(ServiceCurve, KnowsWhereItsThroughputFalls) {
  EXPECT_NEAR(kArticle.best_concurrency(), 307.4, .1);
  EXPECT_NEAR(kArticle.throughput(307), 1246.9, .1);
  EXPECT_NEAR(kArticle.concurrency_of_delay(2s), 951, .1);
  EXPECT_EQ(kArticle.concurrency_of_delay(99ms), 0);
  EXPECT_NEAR(kArticle.throughput(1588), 100, .5);
  EXPECT_NEAR(kArticle.throughput(1317), 200, .5);
  Duration last{0};  // of delays, which never fall
  for (std::size_t c = 0; c < 20'000; ++c) {
    ASSERT_GE(kArticle.delay(c), last) << c;
    last = kArticle.delay(c);
  }
}

}  // namespace
}  // namespace retrystorm
