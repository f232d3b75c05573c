
#include "model/retry/backoff.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// The supremum of the uniform numbers.
const double kAlmostOne = std::nextafter(1.0, 0.0);

// The first waits of a request, always with the same uniform number.
std::vector<Duration> waits(const BackoffSettings& settings, double u, int count) {
  struct Same final : Random {
    explicit Same(double u) : u_(u) {}
    double uniform() override { return u_; }
    double u_;
  } random(u);
  const Backoff backoff(settings);
  RetryState state;
  backoff.begin_request(state, 10s);
  std::vector<Duration> result;
  for (int i = 0; i < count; ++i) {
    result.push_back(backoff.next(state, false, random));
    state.count_retry();
  }
  return result;
}

std::vector<double> seconds(const std::vector<Duration>& durations) {
  std::vector<double> result;
  for (const Duration each : durations) result.push_back(to_seconds(each));
  return result;
}

void expect_near(const std::vector<Duration>& got, const std::vector<double>& expected,
                 double tolerance = 1e-6) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(seconds(got)[i], expected[i], tolerance * std::max(1.0, expected[i])) << i;
  }
}

BackoffSettings exponential_backoff(Duration base, double factor, Duration cap,
                                    const char* jitter) {
  return {.growth = Growth::kExponential,
          .base = base,
          .factor = factor,
          .cap = cap,
          .jitter = parse_jitter(jitter)};
}

// AWS, "Exponential Backoff And Jitter": with a base of 10 ms and a cap of 2 s.
TEST(Jitter, FullIsUniformUpToTheWait) {
  const auto settings = exponential_backoff(10ms, 2, 2s, "full");
  EXPECT_THAT(waits(settings, 0, 3), ElementsAre(0s, 0s, 0s));
  EXPECT_THAT(waits(settings, 0.5, 9),
              ElementsAre(5ms, 10ms, 20ms, 40ms, 80ms, 160ms, 320ms, 640ms, 1s));
  expect_near(waits(settings, kAlmostOne, 2), {0.010, 0.020});
}

TEST(Jitter, EqualKeepsHalfOfTheWait) {
  const auto settings = exponential_backoff(10ms, 2, 2s, "equal");
  EXPECT_THAT(waits(settings, 0, 3), ElementsAre(5ms, 10ms, 20ms));
  EXPECT_THAT(waits(settings, 0.5, 3), ElementsAre(7500us, 15ms, 30ms));
  expect_near(waits(settings, kAlmostOne, 2), {0.010, 0.020});
}

// gRPC's example: 100 ms, doubled up to 1 s, and a fifth around that, also above the cap.
TEST(Jitter, ProportionalIsAShareAroundTheWait) {
  const auto settings = exponential_backoff(100ms, 2, 1s, "proportional:0.2");
  EXPECT_THAT(waits(settings, 0, 5), ElementsAre(80ms, 160ms, 320ms, 640ms, 800ms));
  EXPECT_THAT(waits(settings, 0.5, 5), ElementsAre(100ms, 200ms, 400ms, 800ms, 1s));
  expect_near(waits(settings, kAlmostOne, 5), {0.12, 0.24, 0.48, 0.96, 1.2});
}

// cenkalti/backoff: half around a wait that grows by 1.5 from 500 ms.
TEST(Jitter, ProportionalOfCenkalti) {
  const auto settings = exponential_backoff(500ms, 1.5, 60s, "proportional:0.5");
  EXPECT_THAT(waits(settings, 0, 3), ElementsAre(250ms, 375ms, 562500us));
  EXPECT_THAT(waits(settings, 0.5, 4), ElementsAre(500ms, 750ms, 1125ms, 1687500us));
  // The cap binds from the thirteenth wait on.
  EXPECT_LT(waits(settings, 0.5, 12).back(), 60s);
  EXPECT_EQ(waits(settings, 0.5, 13).back(), 60s);
}

// Azure: the cap is applied after the jitter.
TEST(Jitter, ProportionalWithinTheCap) {
  auto settings = exponential_backoff(800ms, 2, 60s, "proportional:0.2");
  settings.cap_applies = CapApplies::kAfterJitter;
  expect_near(waits(settings, 0.5, 8), {0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 60});
  expect_near(waits(settings, kAlmostOne, 8), {0.96, 1.92, 3.84, 7.68, 15.36, 30.72, 60, 60});
}

// Google Cloud's documents: from the sixth retry on every wait is exactly the cap.
TEST(Jitter, AdditiveWithinTheCap) {
  auto settings = exponential_backoff(1s, 2, 32s, "additive:1s");
  settings.cap_applies = CapApplies::kAfterJitter;
  EXPECT_THAT(waits(settings, 0.5, 7),
              ElementsAre(1500ms, 2500ms, 4500ms, 8500ms, 16500ms, 32s, 32s));
}

// HBase: a pause of 100 ms, times its table, and up to 1 % more.
TEST(Jitter, AdditiveMayBeAPercentageOfTheWait) {
  BackoffSettings settings;
  settings.growth = Growth::kTable;
  settings.jitter = parse_jitter("additive:1%");
  EXPECT_THAT(waits(settings, 0, 8), ElementsAre(100ms, 200ms, 300ms, 500ms, 1s, 2s, 4s, 10s));
  EXPECT_THAT(waits(settings, 0.5, 8),
              ElementsAre(100500us, 201ms, 301500us, 502500us, 1005ms, 2010ms, 4020ms, 10050ms));
  expect_near(waits(settings, kAlmostOne, 8), {0.101, 0.202, 0.303, 0.505, 1.01, 2.02, 4.04, 10.1});
}

// tower: 50 ms doubled, and up to 99 % more.
TEST(Jitter, AdditiveOfTower) {
  const auto settings = exponential_backoff(50ms, 2, Duration::max(), "additive:99%");
  EXPECT_THAT(waits(settings, 0, 2), ElementsAre(50ms, 100ms));
  expect_near(waits(settings, kAlmostOne, 2), {0.0995, 0.199});
}

TEST(Jitter, ExponentialHasTheWaitAsItsMean) {
  const auto settings = exponential_backoff(1s, 2, 1h, "exponential");
  expect_near(waits(settings, 0.5, 3), {std::log(2), 2 * std::log(2), 4 * std::log(2)});
  EXPECT_THAT(waits(settings, 0, 2), ElementsAre(0s, 0s));
}

// AWS: base 1, cap 100; here in seconds.
TEST(Jitter, DecorrelatedGrowsFromTheWaitBefore) {
  const auto settings = exponential_backoff(1s, 2, 100s, "decorrelated");
  EXPECT_THAT(waits(settings, 0, 3), ElementsAre(1s, 1s, 1s));
  expect_near(waits(settings, 0.5, 6), {2, 3.5, 5.75, 9.125, 14.1875, 21.78125});
  expect_near(waits(settings, kAlmostOne, 6), {3, 9, 27, 81, 100, 100});
  const auto low_cap = exponential_backoff(1s, 2, 200ms, "decorrelated");
  EXPECT_THAT(waits(low_cap, 0.5, 3), ElementsAre(200ms, 200ms, 200ms));
}

TEST(Jitter, DecorrelatedStartsAgainWithEachRequest) {
  const Backoff backoff(exponential_backoff(1s, 2, 100s, "decorrelated"));
  ScriptedRandom random{0.5, 0.5, 0.5};
  RetryState state;
  backoff.begin_request(state, 10s);
  backoff.next(state, false, random);
  state.count_retry();
  backoff.next(state, false, random);
  state = {};
  backoff.begin_request(state, 10s);
  EXPECT_EQ(backoff.next(state, false, random), 2s);
}

// Polly's formula for a median first wait of a second.
TEST(Jitter, PollyIsItsSecondFormula) {
  const auto settings = exponential_backoff(1s, 2, Duration::max(), "polly");
  expect_near(waits(settings, 0, 5), {0, 1.377182, 1.460067, 2.865850, 5.717807});
  expect_near(waits(settings, 0.5, 5), {0.897405, 1.093004, 2.035748, 4.045979, 8.083632});
  expect_near(waits(settings, kAlmostOne, 5), {1.377182, 1.460067, 2.865850, 5.717807, 11.430272});
}

TEST(Jitter, PollyIsNeverNegativeAndEndsAtTheCap) {
  const Backoff backoff(exponential_backoff(1s, 2, 30s, "polly"));
  ScriptedRandom random{kAlmostOne, 0, 0.5};
  RetryState state;
  backoff.begin_request(state, 10s);
  EXPECT_NEAR(to_seconds(backoff.next(state, false, random)), 1.377, 1e-3);
  state.count_retry();
  EXPECT_NEAR(to_seconds(backoff.next(state, false, random)), 0, 1e-6);
  const auto settings = exponential_backoff(1s, 2, 30s, "polly");
  EXPECT_EQ(waits(settings, 0.5, 2000).back(), 30s);
}

TEST(Backoff, FirstRetryAtOnceGrowsOnAsIfItHadWaited) {
  // urllib3 with a factor of 0.1 s.
  auto settings = exponential_backoff(100ms, 2, 120s, "none");
  settings.first_at_once = true;
  EXPECT_THAT(waits(settings, 0, 4), ElementsAre(0s, 200ms, 400ms, 800ms));
}

TEST(Backoff, FirstWaitNeedNotBeJittered) {
  auto settings = exponential_backoff(1s, 1.6, 120s, "proportional:0.2");
  settings.jitter_first = false;
  expect_near(waits(settings, 0, 4), {1, 1.28, 2.048, 3.2768});
  expect_near(waits(settings, 0.5, 6), {1, 1.6, 2.56, 4.096, 6.5536, 10.48576});
}

TEST(Backoff, ThrottlingHasItsOwnBase) {
  auto settings = exponential_backoff(50ms, 2, 20s, "full");
  settings.throttled_base = 1s;
  const Backoff backoff(settings);
  ScriptedRandom random{0.5, 0.5, 0.5, 0.5};
  RetryState state;
  backoff.begin_request(state, 10s);
  EXPECT_EQ(backoff.next(state, true, random), 500ms);
  state.count_retry();
  EXPECT_EQ(backoff.next(state, true, random), 1s);
  state.count_retry();
  EXPECT_EQ(backoff.next(state, false, random), 100ms);
  state.count_retry();
  EXPECT_EQ(backoff.next(state, true, random), 4s);
}

// A wait that grows from the one before does so after any answer. After an answer that throttles, it is
// at least the throttled base.
TEST(Backoff, ThrottlingRaisesWaitsThatGrowFromTheLast) {
  auto settings = exponential_backoff(50ms, 2, 20s, "full");
  settings.throttled_base = 1s;
  settings.grow_from = GrowFrom::kJittered;
  const Backoff backoff(settings);
  ScriptedRandom random{0.5, 0.75, 0.75, 0.5, 0.5};
  RetryState state;
  backoff.begin_request(state, 10s);
  EXPECT_EQ(backoff.next(state, false, random), 25ms);
  state.count_retry();
  EXPECT_EQ(backoff.next(state, true, random), 750ms);
  state.count_retry();
  EXPECT_EQ(backoff.next(state, true, random), 1125ms);
  state.count_retry();
  EXPECT_EQ(backoff.next(state, false, random), 1125ms);
  state.count_retry();
  EXPECT_EQ(backoff.next(state, true, random), 1125ms);
}

TEST(Backoff, ThrottlingRaisesWaitsThatGrowFromTheThinkTime) {
  auto settings = exponential_backoff(50ms, 2, 20s, "none");
  settings.throttled_base = 1s;
  settings.from = BackoffFrom::kThinkTime;
  const Backoff backoff(settings);
  ScriptedRandom random{};
  RetryState state;
  backoff.begin_request(state, 300ms);
  EXPECT_EQ(backoff.next(state, false, random), 600ms);
  backoff.begin_request(state, 300ms);
  EXPECT_EQ(backoff.next(state, true, random), 1s);
  state.count_retry();
  EXPECT_EQ(backoff.next(state, true, random), 2s);
}

TEST(Backoff, ATablesLastNumberIsRepeated) {
  BackoffSettings settings;
  settings.growth = Growth::kTable;
  const auto hbase = waits(settings, 0.5, 16);
  EXPECT_THAT(std::vector(hbase.begin() + 7, hbase.end()),
              ElementsAre(10s, 10s, 10s, 10s, 20s, 20s, 20s, 20s, 20s));
  settings.table = {2, 0, 0.5};
  settings.base = 1s;
  EXPECT_THAT(waits(settings, 0.5, 4), ElementsAre(2s, 0s, 500ms, 500ms));
  settings.cap = 1s;
  EXPECT_THAT(waits(settings, 0.5, 3), ElementsAre(1s, 0s, 500ms));
}

TEST(Backoff, ATablesPrintedFormCanBeReadAgain) {
  BackoffSettings settings;
  OptionList options;
  declare_options(options, settings);
  const Option& table = *options.find("backoff-table");
  for (const char* text : {"1", "1+2.5+3", "100000+1000000000+0.000001", "0"}) {
    table.set(text);
    EXPECT_EQ(table.get(), text);
  }
  std::string too_many = "1";
  for (int i = 0; i < 1000; ++i) too_many += "+1";
  EXPECT_THROW(table.set(too_many), std::invalid_argument);
}

// BullMQ: with a jitter of .1 from 90 to 100 % of the wait. All of it is full jitter, half of it equal jitter.
TEST(Jitter, ShorterIsAtMostTheWait) {
  const auto some = exponential_backoff(20s, 2, Duration::max(), "shorter:0.1");
  EXPECT_THAT(waits(some, 0, 3), ElementsAre(18s, 36s, 72s));
  EXPECT_THAT(waits(some, 0.5, 3), ElementsAre(19s, 38s, 76s));
  expect_near(waits(some, kAlmostOne, 3), {20, 40, 80});
  for (const double u : {0.0, 0.25, 0.5}) {
    for (const auto& [share, name] :
         {std::pair("shorter:1", "full"), std::pair("shorter:0.5", "equal")}) {
      EXPECT_EQ(waits(exponential_backoff(16s, 2, 1h, share), u, 3),
                waits(exponential_backoff(16s, 2, 1h, name), u, 3));
    }
  }
}

TEST(Backoff, NoGrowthIsNoWait) {
  BackoffSettings settings;
  settings.growth = Growth::kNone;
  EXPECT_THAT(waits(settings, 0.5, 3), ElementsAre(0s, 0s, 0s));
}

TEST(ParseJitter, ReadsWhatItWrites) {
  for (const char* text :
       {"none", "full", "equal", "normal:0.1", "proportional:0.5", "shorter:0.1", "additive:1.5s",
        "additive:7%", "exponential", "decorrelated", "polly"}) {
    EXPECT_EQ(to_string(parse_jitter(text)), text);
  }
  EXPECT_EQ(to_string(parse_jitter("0.3")), "normal:0.3");
  EXPECT_EQ(to_string(parse_jitter("10%")), "normal:0.1");
  EXPECT_EQ(to_string(parse_jitter("normal:10%")), "normal:0.1");
  EXPECT_EQ(to_string(parse_jitter("proportional:20%")), "proportional:0.2");
  EXPECT_EQ(to_string(parse_jitter("300%")), "normal:300%");
  EXPECT_EQ(parse_jitter("normal:300%"), parse_jitter("300%"));
  EXPECT_EQ(to_string(parse_jitter("additive")), "additive:1s");
}

TEST(ParseJitter, ExplainsEachRefusalInOneSentence) {
  for (const char* text :
       {"",           "ful",          "full:1",           "normal:",      "normal:-1",
        "normal:nan", "-0.1",         "proportional:1.1", "shorter:1.1",  "additive:-1s",
        "additive:x", "additive:-1%", "additive:%",       "additive:1%%", "full:1%",
        "normal:1x",  "10",           "normal:20",        ":1",           "1e999"}) {
    EXPECT_THROW(parse_jitter(text), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace retrystorm
