#include "model/retry/backoff.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using test::ScriptedRandom;

// The supremum of the uniform numbers.
const double kAlmostOne = std::nextafter(1.0, 0.0);

// The first waits of a request, always with the same uniform number.
std::vector<Duration> waits(const BackoffSettings& settings, double u, std::size_t count) {
  test::SameRandom random(u);
  const Backoff backoff(settings);
  RetryState state;
  backoff.begin_request(state, 10s);
  std::vector<Duration> result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back(backoff.next(state, false, random));
    state.count_retry();
  }
  return result;
}

BackoffSettings exponential_backoff(Duration base, double factor, Duration cap,
                                    const char* jitter) {
  return {.growth = Growth::kExponential,
          .base = base,
          .factor = factor,
          .cap = cap,
          .jitter = parse_jitter(jitter)};
}

BackoffSettings within_cap(BackoffSettings settings) {
  settings.cap_applies = CapApplies::kAfterJitter;
  return settings;
}

BackoffSettings table_backoff(const char* jitter) {
  return {.growth = Growth::kTable, .jitter = parse_jitter(jitter)};
}

// What the rows are of: articles, documents and libraries.
struct Of {
  BackoffSettings aws = exponential_backoff(10ms, 2, 2s, "full"),
                  equal = exponential_backoff(10ms, 2, 2s, "equal"),
                  grpc = exponential_backoff(100ms, 2, 1s, "proportional:0.2"),
                  cenkalti = exponential_backoff(500ms, 1.5, 60s, "proportional:0.5"),
                  azure = within_cap(exponential_backoff(800ms, 2, 60s, "proportional:0.2")),
                  google = within_cap(exponential_backoff(1s, 2, 32s, "additive:1s")),
                  hbase = table_backoff("additive:1%"),
                  tower = exponential_backoff(50ms, 2, Duration::max(), "additive:99%"),
                  exponential = exponential_backoff(1s, 2, 1h, "exponential"),
                  decorrelated = exponential_backoff(1s, 2, 100s, "decorrelated"),
                  low_cap = exponential_backoff(1s, 2, 200ms, "decorrelated"),
                  polly = exponential_backoff(1s, 2, Duration::max(), "polly"),
                  bullmq = exponential_backoff(20s, 2, Duration::max(), "shorter:0.1"),
                  urllib3 = exponential_backoff(100ms, 2, 120s, "none"),
                  later = exponential_backoff(1s, 1.6, 120s, "proportional:0.2"), none,
                  table = table_backoff("none"), low_table;

  Of() {
    urllib3.first_at_once = true;
    later.jitter_first = false;
    none.growth = Growth::kNone;
    table.table = {2, 0, 0.5};
    table.base = 1s;
    low_table = table;
    low_table.cap = 1s;
  }
};

TEST(Jitter, IsExactInTheMiddleAndAtTheLeast) {
  const Of of;
  struct Row {
    const BackoffSettings& settings;
    double u;
    std::vector<Duration> waits;
  };
  for (const Row& row : {
           Row{of.aws, 0, {0s, 0s, 0s}},
           Row{of.aws, 0.5, {5ms, 10ms, 20ms, 40ms, 80ms, 160ms, 320ms, 640ms, 1s}},
           Row{of.equal, 0, {5ms, 10ms, 20ms}},
           Row{of.equal, 0.5, {7500us, 15ms, 30ms}},
           // A fifth around the wait, also above the cap.
           Row{of.grpc, 0, {80ms, 160ms, 320ms, 640ms, 800ms}},
           Row{of.grpc, 0.5, {100ms, 200ms, 400ms, 800ms, 1s}},
           Row{of.cenkalti, 0, {250ms, 375ms, 562500us}},
           Row{of.cenkalti, 0.5, {500ms, 750ms, 1125ms, 1687500us}},
           // From the sixth retry on every wait is exactly the cap.
           Row{of.google, 0.5, {1500ms, 2500ms, 4500ms, 8500ms, 16500ms, 32s, 32s}},
           // A pause of 100 ms, times its table, and up to 1 % more. Its last number is repeated.
           Row{of.hbase,
               0,
               {100ms, 200ms, 300ms, 500ms, 1s, 2s, 4s, 10s, 10s, 10s, 10s, 20s, 20s, 20s, 20s,
                20s}},
           Row{of.hbase,
               0.5,
               {100500us, 201ms, 301500us, 502500us, 1005ms, 2010ms, 4020ms, 10050ms}},
           Row{of.table, 0.5, {2s, 0s, 500ms, 500ms}},
           Row{of.low_table, 0.5, {1s, 0s, 500ms}},
           Row{of.tower, 0, {50ms, 100ms}},
           Row{of.exponential, 0, {0s, 0s}},
           Row{of.decorrelated, 0, {1s, 1s, 1s}},
           Row{of.low_cap, 0.5, {200ms, 200ms, 200ms}},
           Row{of.bullmq, 0, {18s, 36s, 72s}},
           Row{of.bullmq, 0.5, {19s, 38s, 76s}},
           // It grows on as if it had waited.
           Row{of.urllib3, 0, {0s, 200ms, 400ms, 800ms}},
           Row{of.none, 0.5, {0s, 0s, 0s}},
       }) {
    EXPECT_EQ(waits(row.settings, row.u, row.waits.size()), row.waits)
        << to_string(row.settings.jitter) << ' ' << row.u;
  }
  // The cap binds from the thirteenth wait on.
  EXPECT_LT(waits(of.cenkalti, 0.5, 12).back(), 60s);
  EXPECT_EQ(waits(of.cenkalti, 0.5, 13).back(), 60s);
  EXPECT_EQ(waits(exponential_backoff(1s, 2, 30s, "polly"), 0.5, 2000).back(), 30s);
}

TEST(Jitter, IsWhatItsFormulaSays) {
  const Of of;
  struct Row {
    const BackoffSettings& settings;
    double u;
    std::vector<double> waits;
  };
  for (const Row& row : {
           Row{of.aws, kAlmostOne, {0.010, 0.020}},
           Row{of.equal, kAlmostOne, {0.010, 0.020}},
           Row{of.grpc, kAlmostOne, {0.12, 0.24, 0.48, 0.96, 1.2}},
           // The cap is applied after the jitter.
           Row{of.azure, 0.5, {0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 60}},
           Row{of.azure, kAlmostOne, {0.96, 1.92, 3.84, 7.68, 15.36, 30.72, 60, 60}},
           Row{of.hbase, kAlmostOne, {0.101, 0.202, 0.303, 0.505, 1.01, 2.02, 4.04, 10.1}},
           Row{of.tower, kAlmostOne, {0.0995, 0.199}},
           Row{of.exponential, 0.5, {std::log(2), 2 * std::log(2), 4 * std::log(2)}},
           // AWS: base 1, cap 100; here in seconds.
           Row{of.decorrelated, 0.5, {2, 3.5, 5.75, 9.125, 14.1875, 21.78125}},
           Row{of.decorrelated, kAlmostOne, {3, 9, 27, 81, 100, 100}},
           // Its second formula, for a median first wait of a second.
           Row{of.polly, 0, {0, 1.377182, 1.460067, 2.865850, 5.717807}},
           Row{of.polly, 0.5, {0.897405, 1.093004, 2.035748, 4.045979, 8.083632}},
           Row{of.polly, kAlmostOne, {1.377182, 1.460067, 2.865850, 5.717807, 11.430272}},
           Row{of.bullmq, kAlmostOne, {20, 40, 80}},
           // The first wait has none.
           Row{of.later, 0, {1, 1.28, 2.048, 3.2768}},
           Row{of.later, 0.5, {1, 1.6, 2.56, 4.096, 6.5536, 10.48576}},
       }) {
    const auto got = waits(row.settings, row.u, row.waits.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(to_seconds(got[i]), row.waits[i], 1e-6 * std::max(1.0, row.waits[i]))
          << to_string(row.settings.jitter) << ' ' << row.u << ' ' << i;
    }
  }
}

// All of the wait is full jitter, half of it equal jitter.
TEST(Jitter, ShorterIsAtMostTheWait) {
  for (const double u : {0.0, 0.25, 0.5}) {
    for (const auto& [share, name] :
         {std::pair("shorter:1", "full"), std::pair("shorter:0.5", "equal")}) {
      EXPECT_EQ(waits(exponential_backoff(16s, 2, 1h, share), u, 3),
                waits(exponential_backoff(16s, 2, 1h, name), u, 3));
    }
  }
}

// The waits of a request, each after an answer that throttles or another one. The random numbers are these.
struct Waits {
  explicit Waits(const BackoffSettings& settings, std::initializer_list<double> uniforms = {},
                 Duration think_time = 10s)
      : backoff(settings), random(uniforms) {
    backoff.begin_request(state, think_time);
  }
  Duration next(bool throttled = false) {
    const Duration wait = backoff.next(state, throttled, random);
    state.count_retry();
    return wait;
  }

  const Backoff backoff;
  ScriptedRandom random;
  RetryState state;
};

TEST(Jitter, DecorrelatedStartsAgainWithEachRequest) {
  Waits of(exponential_backoff(1s, 2, 100s, "decorrelated"), {0.5, 0.5, 0.5});
  of.next();
  of.next();
  of.state = {};
  of.backoff.begin_request(of.state, 10s);
  EXPECT_EQ(of.next(), 2s);
}

TEST(Jitter, PollyIsNeverNegative) {
  Waits of(exponential_backoff(1s, 2, 30s, "polly"), {kAlmostOne, 0});
  EXPECT_NEAR(to_seconds(of.next()), 1.377, 1e-3);
  EXPECT_NEAR(to_seconds(of.next()), 0, 1e-6);
}

// A wait that grows from the one before does so after any answer. After an answer that throttles, it is
// at least the throttled base.
TEST(Backoff, ThrottlingHasItsOwnBase) {
  auto settings = exponential_backoff(50ms, 2, 20s, "full");
  settings.throttled_base = 1s;
  Waits own(settings, {0.5, 0.5, 0.5, 0.5});
  EXPECT_EQ(own.next(true), 500ms);
  EXPECT_EQ(own.next(true), 1s);
  EXPECT_EQ(own.next(false), 100ms);
  EXPECT_EQ(own.next(true), 4s);

  settings.grow_from = GrowFrom::kJittered;
  Waits last(settings, {0.5, 0.75, 0.75, 0.5, 0.5});
  EXPECT_EQ(last.next(false), 25ms);
  EXPECT_EQ(last.next(true), 750ms);
  EXPECT_EQ(last.next(true), 1125ms);
  EXPECT_EQ(last.next(false), 1125ms);
  EXPECT_EQ(last.next(true), 1125ms);

  settings = exponential_backoff(50ms, 2, 20s, "none");
  settings.throttled_base = 1s;
  settings.from = BackoffFrom::kThinkTime;
  EXPECT_EQ(Waits(settings, {}, 300ms).next(false), 600ms);
  Waits think(settings, {}, 300ms);
  EXPECT_EQ(think.next(true), 1s);
  EXPECT_EQ(think.next(true), 2s);
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
  for (const char* wrong :
       {too_many.c_str(), "", "1+-2", "1+nan", "1++2", "1+", "1e+5", "1,2", "1 2"}) {
    EXPECT_THROW(table.set(wrong), std::invalid_argument) << wrong;
  }
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
