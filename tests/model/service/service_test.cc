#include "model/service/service.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

constexpr TimePoint kOpening{1h};

ServiceOptions with_errors(double share, ErrorAfter after) {
  ServiceOptions options{.base_delay = 100ms, .limit = 1'000'000};
  options.errors = {.share = share, .after = after};
  return options;
}

// Sends requests one after the other and answers each. Returns which of them failed.
std::vector<bool> serve(Service<int>& service, int requests) {
  std::vector<bool> failed;
  TimePoint now = kOpening;
  for (int i = 0; i < requests; ++i) {
    const auto arrival = service.arrive(now, i);
    if (arrival.answer.rejection) {
      failed.push_back(arrival.answer.status() == 503);
      service.leave(now, arrival.answer, true);
      continue;
    }
    now += 100ms;
    const auto taken = service.take(now);
    failed.push_back(taken->answer.status() == 503);
    service.leave(now, taken->answer, true);
  }
  return failed;
}

class ErrorShare : public ::testing::TestWithParam<ErrorAfter> {};

TEST_P(ErrorShare, IsDrawnFromTheSeed) {
  const auto of_seed = [](std::uint64_t seed) {
    Service<int> service(with_errors(0.5, GetParam()), seed);
    return serve(service, 200);
  };
  EXPECT_EQ(of_seed(1), of_seed(1));
  EXPECT_NE(of_seed(1), of_seed(2));
}

INSTANTIATE_TEST_SUITE_P(After, ErrorShare,
                         ::testing::Values(ErrorAfter::kAdmission, ErrorAfter::kService));

TEST(Service, AnErrorAtOnceIsARefusalWithoutAHint) {
  Service<int> service(with_errors(1, ErrorAfter::kAdmission), 1);
  int item = 1;
  const Answer answer = service.arrive(kOpening, item).answer;
  EXPECT_EQ(answer, (Answer{.rejection = Rejection::kError, .with = 503}));
  EXPECT_EQ(answer.status(), 503);
  EXPECT_EQ(service.concurrency(), 0u);
  EXPECT_EQ(service.connections(), 1u);
  service.leave(kOpening, answer, true);
  EXPECT_EQ(service.connections(), 0u);
  EXPECT_EQ(service.counts().admitted, 0u);
  EXPECT_EQ(service.counts().completed, 0u);
}

TEST(Service, AnErrorAfterServiceTakesAsLongAsAnyAnswer) {
  Service<int> service(with_errors(1, ErrorAfter::kService), 1);
  int item = 1;
  EXPECT_TRUE(service.arrive(kOpening, item).answer.ok());
  EXPECT_EQ(service.concurrency(), 1u);
  EXPECT_EQ(service.next_event(), kOpening + 100ms);
  const auto taken = service.take(kOpening + 100ms);
  EXPECT_EQ(taken->answer.status(), 503);
  EXPECT_EQ(taken->answer.retry_after, 0s);
  service.leave(kOpening + 100ms, taken->answer, true);
  EXPECT_EQ(service.concurrency(), 0u);
  const ServiceCounts& counts = service.counts();
  EXPECT_EQ(counts.admitted, 1u);
  EXPECT_EQ(counts.completed, 1u);
  EXPECT_EQ(counts.failed, 1u);
  EXPECT_EQ(counts.served, 0u);
  EXPECT_EQ(counts.rejections(), 0u);
}

// A hundred requests of 1 to 100 ms. All but each tenth are received in time. The times are middles of
// bins, off by 0.4 %.
TEST(Service, RecordsHowLongRequestsWereInItIfWanted) {
  const auto serve_all = [](Service<int>& service) {
    for (int i = 0; i < 100; ++i) {
      int item = i;
      ASSERT_TRUE(service.arrive(kOpening, item).answer.ok());
    }
    for (int i = 0; i < 100; ++i) {
      const auto taken = service.take(kOpening + 1h);
      // The time ends when the engine answers, even if that is late.
      service.leave(kOpening + (i + 1) * 1ms, taken->answer, i % 10 != 9, taken->admitted);
    }
  };
  const auto near = [](std::optional<Duration> time, Duration expected) {
    EXPECT_NEAR(to_seconds(time.value()), to_seconds(expected), 0.004 * to_seconds(expected));
  };
  const ServiceOptions options{.base_delay = 0s, .limit = 1000};
  Service<int> service(options, 1);
  service.record_times();
  IntervalTaker taker;
  serve_all(service);
  const ServiceTimes times = taker.take(kOpening, service).times;
  near(times.served.p50, 49ms);  // the 45th of the 90
  near(times.served.p95, 95ms);  // the 86th
  near(times.served.p99, 99ms);
  near(times.late.p50, 50ms);  // the 5th of the 10
  near(times.late.p99, 100ms);
  EXPECT_EQ(taker.take(kOpening, service).times.served.p50,
            std::nullopt);  // starts again for each interval

  Service<int> unwatched(options, 1);
  serve_all(unwatched);
  EXPECT_EQ(IntervalTaker().take(kOpening, unwatched).times.served.p50, std::nullopt);
}

// An error counts neither as an answer in time nor as one too late.
TEST(Service, RecordsNoTimesOfErrors) {
  Service<int> service(with_errors(1, ErrorAfter::kService), 1);
  service.record_times();
  serve(service, 10);
  const ServiceTimes times = service.take_times().quantiles();
  EXPECT_EQ(times.served.p50, std::nullopt);
  EXPECT_EQ(times.late.p50, std::nullopt);
}

// The hints of a hundred requests that are shed.
std::vector<Duration> hints_of(const HintOfferSettings& settings, std::uint64_t seed) {
  ServiceOptions options{.shed_above = 1};
  options.hint = settings;
  Service<int> service(options, seed);
  int item = 1;
  service.arrive(kOpening, item);
  std::vector<Duration> hints;
  for (int i = 0; i < 100; ++i) hints.push_back(service.arrive(kOpening, item).answer.retry_after);
  return hints;
}

TEST(Service, TellsRefusedClientsWhenToRetry) {
  using Hints = std::vector<Duration>;
  EXPECT_EQ(hints_of({}, 1), Hints(100, 1s));
  EXPECT_EQ(hints_of({.kind = HintKind::kNone}, 1), Hints(100, 0s));
  EXPECT_EQ(hints_of({.kind = HintKind::kFixed, .least = 7s}, 1), Hints(100, 7s));
  const HintOfferSettings spread{.kind = HintKind::kSpread, .least = 3s, .most = 4s};
  EXPECT_EQ(hints_of(spread, 1), hints_of(spread, 1));
  EXPECT_NE(hints_of(spread, 1), hints_of(spread, 2));
}

// The share of errors is a share of the requests that the rate limit and shedding admit.
TEST(Service, RefusesBeforeItFails) {
  ServiceOptions options = with_errors(1, ErrorAfter::kAdmission);
  options.rate_limit.rate = 1;
  Service<int> service(options, 1);
  int item = 1;
  EXPECT_EQ(service.arrive(kOpening, item).answer.status(), 503);
  EXPECT_EQ(service.arrive(kOpening, item).answer.status(), 429);
}

ServiceOptions of_workers(std::size_t workers) {
  ServiceOptions options{.capacity = Capacity::kWorkers};
  options.workers = {.workers = workers, .service_time = ServiceTime::fixed(100ms)};
  return options;
}

TEST(ServiceOfWorkers, RefusesRequestsWithoutAPlace) {
  ServiceOptions options = of_workers(1);
  options.workers.queue_length = 1;
  Service<int> service(options, 1);
  int item = 1;
  EXPECT_TRUE(service.arrive(kOpening, item).answer.ok());
  EXPECT_TRUE(service.arrive(kOpening, item).answer.ok());
  const Answer answer = service.arrive(kOpening, item).answer;
  EXPECT_EQ(answer, (Answer{.rejection = Rejection::kQueueFull, .retry_after = 1s}));
  EXPECT_EQ(answer.status(), 503);
  EXPECT_EQ(service.concurrency(), 2u);
  EXPECT_EQ(service.connections(), 3u);
  service.leave(kOpening, answer, true);
  EXPECT_EQ(service.connections(), 2u);
  // When the first is done there is a place, even if its answer was not taken yet.
  EXPECT_TRUE(service.arrive(kOpening + 100ms, item).answer.ok());
  EXPECT_EQ(service.counts().offered, 4u);
  EXPECT_EQ(service.counts().admitted, 3u);
  EXPECT_EQ(service.counts().rejected[index_of(Rejection::kQueueFull)], 1u);
}

TEST(ServiceOfWorkers, GivesOutDroppedRequestsWithARejection) {
  ServiceOptions options = of_workers(1);
  options.workers.drop = {.kind = QueueDrop::Kind::kAge, .time = 50ms};
  options.hint = {.kind = HintKind::kFixed, .least = 7s};
  Service<int> service(options, 1);
  for (int item : {1, 2}) service.arrive(kOpening, item);
  EXPECT_EQ(service.next_event(), kOpening + 100ms);
  const auto done = service.take(kOpening + 100ms);
  const auto dropped = service.take(kOpening + 100ms);
  EXPECT_FALSE(service.take(kOpening + 100ms).has_value());
  EXPECT_EQ(done->item, 1);
  EXPECT_TRUE(done->answer.ok());
  EXPECT_EQ(dropped->item, 2);
  EXPECT_EQ(dropped->answer, (Answer{.rejection = Rejection::kDropped, .retry_after = 7s}));
  EXPECT_EQ(service.concurrency(), 1u);  // the first, which is being answered
  EXPECT_EQ(service.connections(), 2u);
  service.leave(kOpening + 100ms, dropped->answer, true, dropped->admitted);
  service.leave(kOpening + 100ms, done->answer, true, done->admitted);
  EXPECT_EQ(service.connections(), 0u);
  const ServiceCounts& counts = service.counts();
  EXPECT_EQ(counts.admitted, 2u);
  EXPECT_EQ(counts.completed, 1u);
  EXPECT_EQ(counts.served, 1u);
  EXPECT_EQ(counts.rejected[index_of(Rejection::kDropped)], 1u);
}

// Of 429 and 503 only, and not where it would be computed. At admission as well as after service.
TEST(Service, HintsAtItsErrorsAsAtItsRejections) {
  for (const ErrorAfter after : {ErrorAfter::kAdmission, ErrorAfter::kService}) {
    for (const auto& [kind, status, hint] :
         {std::tuple(HintKind::kFixed, 429, 7s), std::tuple(HintKind::kFixed, 503, 7s),
          std::tuple(HintKind::kFixed, 500, 0s), std::tuple(HintKind::kComputed, 429, 0s),
          std::tuple(HintKind::kNone, 503, 0s)}) {
      ServiceOptions options = of_workers(1);
      options.errors = {.share = 1, .status = status, .after = after};
      options.hint = {.kind = kind, .least = 7s};
      Service<int> service(options, 1);
      int item = 1;
      Answer answer = service.arrive(kOpening, item).answer;
      if (after == ErrorAfter::kService) answer = service.take(kOpening + 100ms)->answer;
      EXPECT_EQ(answer.status(), status);
      EXPECT_EQ(answer.retry_after, hint) << status;
    }
  }
}

// The clients of 2, 3 and 5 hang up. The worker takes 4 in the moment in which it is done with 1.
TEST(ServiceOfWorkers, SkipsARequestWhoseClientHasHungUp) {
  Service<int> service(of_workers(1), 1);
  std::vector<int> gone;
  service.skip_if([&gone](int item) { return std::count(gone.begin(), gone.end(), item) > 0; });
  for (int item : {1, 2, 3, 4}) service.arrive(kOpening, item);
  gone = {2, 3, 5};
  EXPECT_EQ(service.concurrency(), 4u);  // they stay in the queue until a worker would take them
  const TimePoint first_done = kOpening + 100ms;
  const auto done = service.take(first_done);
  EXPECT_TRUE(done->answer.ok());
  service.leave(first_done, done->answer, true, done->admitted);
  for (const int item : {2, 3}) {
    const auto skipped = service.take(first_done);
    EXPECT_EQ(skipped->item, item);
    EXPECT_EQ(skipped->answer, Answer{.rejection = Rejection::kAbandoned});
    service.leave(first_done, skipped->answer, false, skipped->admitted);
  }
  EXPECT_EQ(service.concurrency(), 1u);
  int item = 5;
  const Answer at_once = service.arrive(first_done, item).answer;
  EXPECT_EQ(at_once, Answer{.rejection = Rejection::kAbandoned});
  service.leave(first_done, at_once, false);
  EXPECT_EQ(service.next_event(), kOpening + 200ms);
  EXPECT_EQ(service.take(kOpening + 200ms)->item, 4);
  EXPECT_EQ(service.connections(), 1u);
  const ServiceCounts& counts = service.counts();
  EXPECT_EQ(counts.offered, 5u);
  EXPECT_EQ(counts.admitted, 4u);
  EXPECT_EQ(counts.rejected[index_of(Rejection::kAbandoned)], 3u);
}

// To reject a request for nobody takes no worker's time, and it is counted once.
TEST(ServiceOfWorkers, RejectsARequestWhoseClientHasHungUpAtOnce) {
  ServiceOptions options = of_workers(1);
  options.shed_above = 1;
  options.workers.rejection_cost = 30ms;
  Service<int> service(options, 1);
  bool gone = false;
  service.skip_if([&gone](int item) { return gone && item == 2; });
  for (int item : {1, 2, 3}) service.arrive(kOpening, item);
  gone = true;
  EXPECT_EQ(service.take(kOpening + 100ms)->item, 1);
  EXPECT_EQ(service.take(kOpening + 100ms)->item, 2);
  EXPECT_EQ(service.next_event(), kOpening + 130ms);
  EXPECT_EQ(service.counts().rejections(), 2u);
}

// A request refused on arrival is given out later, and is not counted as admitted.
TEST(ServiceOfWorkers, RejectsLaterIfThatCostsTime) {
  ServiceOptions options = of_workers(1);
  options.shed_above = 1;
  options.workers.rejection_cost = 30ms;
  Service<int> service(options, 1);
  int item = 1;
  service.arrive(kOpening, item);
  EXPECT_TRUE(service.arrive(kOpening, item).answer.ok());
  EXPECT_EQ(service.counts().rejected[index_of(Rejection::kShed)], 1u);
  EXPECT_EQ(service.counts().admitted, 1u);
  EXPECT_EQ(service.concurrency(), 1u);
  EXPECT_EQ(service.connections(), 2u);
  const auto done = service.take(kOpening + 100ms);
  EXPECT_TRUE(done->answer.ok());
  service.leave(kOpening + 100ms, done->answer, true, done->admitted);
  const auto rejected = service.take(kOpening + 130ms);
  EXPECT_EQ(rejected->answer, (Answer{.rejection = Rejection::kShed, .retry_after = 1s}));
  service.leave(kOpening + 130ms, rejected->answer, true, rejected->admitted);
  EXPECT_EQ(service.connections(), 0u);
  EXPECT_EQ(service.counts().completed, 1u);
  EXPECT_EQ(service.counts().rejections(), 1u);
}

// With one more worker the second is served at once. Refusals start to cost a worker's time, and stop
// doing so.
TEST(ServiceOfWorkers, TakesOtherSettingsWhileItServes) {
  Service<int> service(of_workers(1), 1);
  for (int item : {1, 2}) service.arrive(kOpening, item);
  ServiceOptions options = of_workers(2);
  options.shed_above = 3;
  options.workers.rejection_cost = 30ms;
  service.configure(kOpening + 10ms, options);
  for (int item : {3, 4}) EXPECT_TRUE(service.arrive(kOpening + 10ms, item).answer.ok()) << item;
  const auto given_out = [&](Duration after) {
    const auto taken = service.take(kOpening + after);
    service.leave(kOpening + after, taken->answer, true, taken->admitted);
    EXPECT_FALSE(service.take(kOpening + after).has_value());
    return std::pair(taken->item, taken->answer.rejection);
  };
  using Given = std::pair<int, std::optional<Rejection>>;
  EXPECT_EQ(service.next_event(), kOpening + 100ms);
  EXPECT_EQ(given_out(100ms), Given(1, std::nullopt));
  EXPECT_EQ(given_out(110ms), Given(2, std::nullopt));
  EXPECT_EQ(given_out(130ms), Given(4, Rejection::kShed));  // refusals go first
  options.shed_above = 1;
  options.workers.rejection_cost = 0ms;
  service.configure(kOpening + 150ms, options);
  int item = 5;
  EXPECT_EQ(service.arrive(kOpening + 150ms, item).answer.rejection, Rejection::kShed);
  EXPECT_EQ(given_out(210ms), Given(3, std::nullopt));
}

TEST(ServiceOfWorkers, ForgetsCancelledRequests) {
  Service<int> service(of_workers(1), 1);
  int item = 1;
  const auto first = service.arrive(kOpening, item).ticket;
  item = 2;
  service.arrive(kOpening, item);
  service.cancel(kOpening + 10ms, first);
  EXPECT_EQ(service.connections(), 1u);
  EXPECT_EQ(service.next_event(), kOpening + 110ms);
  EXPECT_EQ(service.take(kOpening + 110ms)->item, 2);
}

TEST(ServiceOfWorkers, ReportsItsState) {
  Service<int> service(of_workers(2), 1);
  for (int item : {1, 2, 3}) service.arrive(kOpening, item);
  const ServerInterval interval = IntervalTaker().take(kOpening, service);
  EXPECT_EQ(interval.concurrency, 3u);
  EXPECT_EQ(interval.workers->workers, 2u);
  EXPECT_EQ(interval.workers->busy, 2u);
  EXPECT_EQ(interval.workers->waiting, 1u);
  EXPECT_EQ(interval.last_delay, 200ms);  // two of (1 + 1)/2 service times
  Service<int> curve({}, 1);
  EXPECT_FALSE(IntervalTaker().take(kOpening, curve).workers.has_value());
}

}  // namespace
}  // namespace retrystorm
