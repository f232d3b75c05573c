#include "model/service/worker_queue.h"

#include "model/base/text.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

constexpr TimePoint kShift{1h};

WorkerSettings with(std::size_t workers, Duration time = 100ms) {
  return {.workers = workers, .service_time = ServiceTime::fixed(time)};
}

// A queue whose requests are letters. Nothing in it is random. What happens is written in words:
//
//   @100       from now on it is 100 ms after the beginning
//   +AB  !Z    A and B arrive; Z is refused
//   -A         A is cancelled
//   tick       what is due happens
//   =ABz       these are given out by then, in this order; the refused ones are small letters
//   next:150   its next event; none
//   busy:1  waiting:2  all:3  time:300  full:1    what it says of itself; the expected time in ms
struct Workers {
  explicit Workers(const WorkerSettings& settings, const std::string& story = "")
      : queue(settings) {
    play(story);
  }

  void play(const std::string& story) {
    for (const std::string_view word : split(story, ' ')) {
      SCOPED_TRACE(story + ": " + std::string(word));
      const std::string rest(word.substr(word.find(':') + 1)), letters(word.substr(1));
      const auto is = [&](std::string_view what) { return word.starts_with(what); };
      if (is("@")) {
        now = kShift + milliseconds(letters);
      } else if (is("+") || is("!")) {
        for (const char item : letters) {
          queue.advance(now, random);
          tickets[item] =
              is("+") ? queue.arrive(now, item, random)
                      : queue.refuse(now, item, {.rejection = Rejection::kShed, .retry_after = 7s},
                                     random);
        }
      } else if (word == "tick") {
        queue.advance(now, random);
      } else if (is("-")) {
        queue.cancel(now, tickets.at(letters[0]), random);
      } else if (is("=")) {
        EXPECT_EQ(take(), letters);
      } else if (is("next:")) {
        EXPECT_EQ(queue.next_event(),
                  rest == "none" ? TimePoint::max() : kShift + milliseconds(rest));
      } else if (is("time:")) {
        EXPECT_EQ(queue.expected_time(), milliseconds(rest));
      } else {
        EXPECT_EQ(is("busy:")      ? queue.busy()
                  : is("waiting:") ? queue.waiting()
                  : is("full:")    ? std::size_t{queue.full()}
                                   : queue.concurrency(),
                  std::stoul(rest));
      }
    }
  }

  static Duration milliseconds(const std::string& number) { return parse_duration(number + "ms"); }

  std::string take() {
    std::string items;
    while (const auto given = queue.take(now, random)) {
      items += static_cast<char>(given->item + (given->answer != nullptr ? 'a' - 'A' : 0));
      if (given->answer == nullptr) queue.leave();
    }
    return items;
  }

  void configure(const WorkerSettings& settings) { queue.configure(now, settings, random); }

  TimePoint now = kShift;
  test::ScriptedRandom random{};
  WorkerQueue<char> queue;
  std::map<char, WorkerQueue<char>::Ticket> tickets;
};

// Of requests that are lost in a restart some were waiting, and never had a worker that is held for them.
TEST(WorkerQueue, HasFreeWorkersAfterARestartThatLosesHeldAndWaitingRequests) {
  Workers workers(with(2), "all:0");
  workers.queue.hold_workers();
  workers.play("+ABCDE @100 tick busy:2 waiting:3");
  const auto held = workers.queue.take(workers.now, workers.random);
  ASSERT_TRUE(held);
  while (workers.queue.take_any()) workers.queue.leave();
  workers.play("busy:1 waiting:0 all:1");
  workers.queue.leave();  // it calls for the first one
  workers.play("busy:0 all:0 +XY busy:2 waiting:0 @200 =XY busy:0");
}

TEST(WorkerQueue, ServesByItsRules) {
  const WorkerSettings one = with(1);
  WorkerSettings lifo = one, adaptive = one, unfair = one, place = with(2), no_place = with(2),
                 aged = one, aged_lifo = one, codel = with(1, 60ms), costly = one,
                 costly_drops = one;
  lifo.order = {.kind = QueueOrder::Kind::kLifo};
  adaptive.order = {.kind = QueueOrder::Kind::kAdaptiveLifo, .threshold = 2};
  unfair.order = {.kind = QueueOrder::Kind::kUnfair, .share = 0.5};
  place.queue_length = 1;
  no_place.queue_length = 0;
  aged.drop = aged_lifo.drop = {.kind = QueueDrop::Kind::kAge, .time = 150ms};
  aged_lifo.order = lifo.order;
  codel.drop = {.kind = QueueDrop::Kind::kCoDel, .time = 5ms, .interval = 100ms};
  costly.rejection_cost = costly_drops.rejection_cost = 30ms;
  costly_drops.drop = {.kind = QueueDrop::Kind::kAge, .time = 50ms};
  for (
      const auto& [settings, story] : std::vector<std::pair<WorkerSettings, std::string>>{
          {with(2), "next:none all:0 time:100 full:0 @3600000 ="},
          // As many as it has workers, in the order of arrival. Expected: the mean of two places, behind three.
          {with(2),
           "+ABCDE busy:2 waiting:3 all:5 time:300 next:100 @99.999999 = @100 =AB @200 =CD "
           "busy:1 @300 =E next:none all:0"},
          // A timer that is a little late, as on a busy machine, costs no capacity. Events that are due happen before
          // an arrival.
          {one, "+ABCD @115 =A next:200 @215 +E next:215 =B next:300"},
          // Each second time one that has just come: E, and F is too old for that.
          {unfair, "+ABCDF @100 =A @150 +E @200 =B @300 =E @400 =C @500 =D @600 =F"},
          // A frozen server does not work. When it wakes, the requests that were being served are done, and the
          // others are where they were.
          {one, "+ABCD @10000 =A next:10080"},
          {lifo, "+XABCD @100 =X @150 +E @200 =D @300 =E @400 =C @500 =B @600 =A"},
          // HHVM's rule at a threshold of 2.
          {adaptive, "+XABCD @100 =X @200 =D @300 =C @400 =A @500 =B"},
          {place, "+AB full:0 +C full:1 @100 tick full:0"},
          {no_place, "+A full:0 +B full:1"},
          // A has waited for 100 ms; then B for 190 ms and C for 151 ms, but D for no more than 150 ms.
          {aged, "+XA @10 +B @49 +C @50 +D @100 =X all:4 @200 =Abc all:1 @300 =D"},
          // In every order, it is the oldest request that has waited too long.
          {aged_lifo, "+XAB @100 =X @120 +C @200 =Ba @300 =C"},
          // Requests that find a free worker count too: their wait is the shortest. A is taken after 0 ms. B is taken
          // after 60 ms, in a new interval; the one before had a wait of 0, so nothing is dropped. So C is taken
          // after 120 ms. D comes after 180 ms, in the next interval; the shortest wait of the one before was 60 ms.
          // D is the first of its interval. E, after 240 ms, is dropped, and so are all that would be taken with it.
          {codel, "+ABCDEFG @60 =A @120 =B @180 =C @240 =Defg all:0"},
          // A refusal on arrival that costs time goes before all waiting requests, but needs a worker.
          {costly, "!Z busy:1 all:0 waiting:0 +A !Y @30 =z @60 =y next:160 @160 =A"},
          // As one that is dropped does. At 120 ms B and C are in it: A is being refused.
          {costly_drops, "+XAB @120 +C =X all:2 @130 =a @160 =b @260 =C"},
          // Waiting requests, one that is being served, and refusals that are cancelled.
          {one, "+XABC @10 -B all:3 waiting:2 @100 =X @200 =A @300 =C all:0"},
          {with(2), "+A @10 +B @20 +C @50 -A busy:2 waiting:0 next:110 @3600000 =BC"},
          {costly, "!ZYW -Y @10 -Z next:40 @3600000 =w all:0 busy:0"},
          // One that was done when it is cancelled, as by a client that left a frozen server.
          {one, "+AB @5000 -A all:1 = @6000 =B"},
      }) {
    Workers(settings, story);
  }
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

TEST(WorkerQueue, GivesARefusalItsOwnAnswer) {
  WorkerSettings settings = with(1);
  settings.rejection_cost = 30ms;
  Workers workers(settings, "!Z");
  const auto given = workers.queue.take(kShift + 30ms, workers.random);
  ASSERT_NE(given->answer, nullptr);
  EXPECT_EQ(*given->answer, (Answer{.rejection = Rejection::kShed, .retry_after = 7s}));
}

// Many clients leave a service that serves hardly any of them. Cancelled requests take no memory, and
// the rest keep their order. (A ticket is the number of a place.)
TEST(WorkerQueue, ReusesThePlacesOfCancelledRequests) {
  Workers workers(with(1, 1000h), "+XA");
  WorkerQueue<char>::Ticket greatest = 0;
  for (int i = 0; i < 10'000; ++i) {
    workers.now = kShift + i * 1ms;
    workers.play("+B -B");
    greatest = std::max(greatest, workers.tickets['B']);
  }
  EXPECT_LT(greatest, 10u);
  EXPECT_NE(greatest, workers.tickets['A']);
  workers.play("waiting:1 @11000 +C @3600000000 =X @7200000000 =A @10800000000 =C");
}

// None is started until a worker is free when it has fewer. Requests that are being served keep their times.
TEST(WorkerQueue, AppliesNewSettingsFromThenOn) {
  Workers more(with(1), "+ABCD @10");
  more.configure(with(3));
  more.play("busy:3 @100 =A @110 =BC @200 =D");
  Workers fewer(with(3), "+A @10 +B @20 +C @30 +D @40 +E @50");
  fewer.configure(with(1));
  fewer.play("busy:3 waiting:2 @100 =A @110 =B busy:1 @120 =C @220 =D @320 =E");
  Workers workers(with(1), "+XABCD @50");
  WorkerSettings slow = with(1, 300ms);
  slow.order = {.kind = QueueOrder::Kind::kLifo};
  workers.configure(slow);
  workers.play("@100 =X @399 = @400 =D @410");
  slow.drop = {.kind = QueueDrop::Kind::kAge, .time = 600ms};
  workers.configure(slow);
  workers.play("@700 =Cab");
}

TEST(WorkerQueue, GivesOutAllWhenItEnds) {
  WorkerSettings settings = with(1);
  settings.rejection_cost = 30ms;
  Workers workers(settings, "+ABC !Z +D -D @100 +E");
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
