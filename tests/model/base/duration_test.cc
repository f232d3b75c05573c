#include "model/base/duration.h"

#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Most of these are the test cases of Go's own time package.
TEST(ParseDuration, ReadsWhatGoReadsAndPeopleType) {
  const std::pair<const char*, Duration> cases[] = {
      {"0", 0ns},
      {"+0", 0ns},
      {"-0", 0ns},
      {"5s", 5s},
      {"+5s", 5s},
      {"-5s", -5s},
      {"1478s", 1478s},
      {"5.0s", 5s},
      {"5.6s", 5600ms},
      {"5.s", 5s},
      {".5s", 500ms},
      {"1.004s", 1004ms},
      {"1.0040s", 1004ms},
      {"100.00100s", 100001ms},
      {"10ns", 10ns},
      {"11us", 11us},
      {"12\u00b5s", 12us},
      {"12\u03bcs", 12us},
      {"13ms", 13ms},
      {"14s", 14s},
      {"15m", 15min},
      {"16h", 16h},
      {"3h30m", 3h + 30min},
      {"1m30s", 90s},
      {"10.5s4m", 4min + 10500ms},
      {"-2m3.4s", -(2min + 3400ms)},
      {"1h2m3s4ms5us6ns", 1h + 2min + 3s + 4ms + 5us + 6ns},
      {"39h9m14.425s", 39h + 9min + 14425ms},
      {"0.3333333333333333333h", 20min},
      {"0.100000000000000000000h", 6min},
      {"9007199254740993ns", 9007199254740993ns},
      {"9223372036854775807ns", Duration::max()},
      {"9223372036854775.807us", Duration::max()},
      {"9223372036s854ms775us807ns", Duration::max()},
      {"-9223372036854775807ns", -Duration::max()},
      // A bare number is one of seconds.
      {"2", 2s},
      {"0.25", 250ms},
      {"-3", -3s},
      {"59.9", 59900ms},
      // The units that people type, and blanks around them.
      {"2min", 2min},
      {"30sec", 30s},
      {"1h", 1h},
      {"500msec", 500ms},
      {"2 minutes 30 seconds", 150s},
      {"1 hour 1 minute 1 second", 3661s},
      {"1 s", 1s},
      {"1m 30s", 90s},
      {"1 h 2 m 3.5 s", 1h + 2min + 3500ms},
      {"250 ms ", 250ms},
      // Decimal fractions are exact, and those of a nanosecond are cut.
      {"0.1s", 100ms},
      {"2.671444385s", 2671444385ns},
      {"0.000000001s", 1ns},
      {"0.9ns", 0ns},
      {"1.9999999999s", 1999999999ns},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(parse_duration(text), expected) << text;
}

TEST(ParseDuration, RefusesTextThatIsNotADuration) {
  for (const char* text :
       {"",      "-",        "+",       ".",    "-.",        "s",     ".s",   "+.s",
        "1d",    "\x85\x85", "abc",     "s 1",  " 1s",       "1s s",  "--1s", "1e3s",
        "nan",   "inf",      "0x10",    "1m30", "1.2.3s",    "1S",    "1,5s", "5s-",
        "2mins", "2Min",     "2 weeks", "min",  "500millis", "1 30s", "60 "}) {
    EXPECT_THROW(parse_duration(text), std::invalid_argument) << text;
  }
}

TEST(ParseDuration, RefusesDurationsBeyond64Bits) {
  for (const char* text :
       {"9223372036854775808ns", "9223372036854775.808us", "9223372036854ms775us808ns", "3000000h",
        "9223372037", "99999999999999999999s", "2562047h48m", "1h9223372036854775807ns"}) {
    EXPECT_THROW(parse_duration(text), std::invalid_argument) << text;
  }
}

TEST(ParseDuration, NamesTheTextAndTheReason) {
  test::expect_refusals([](const std::string& text) { parse_duration(text); },
                        {{"soon", "'soon' is not a duration"},
                         {"5x", "unknown unit"},
                         {"5x", "'5x'"},
                         {"1m30", "lacks a unit"},
                         {"1m30", "'1m30'"},
                         {"3000000h", "too long"},
                         {"3000000h", "'3000000h'"},
                         // These may be milliseconds.
                         {"60", "has no unit: 60s or 60ms?"},
                         {"500", "has no unit: 500s or 500ms?"},
                         {"110.5", "has no unit: 110.5s or 110.5ms?"},
                         {"-60", "has no unit: -60s or -60ms?"}});
}

TEST(FormatDuration, WritesAsGoWrites) {
  const std::pair<Duration, const char*> cases[] = {
      {0s, "0s"},
      {1ns, "1ns"},
      {999ns, "999ns"},
      {1100ns, "1.1\u00b5s"},
      {999999ns, "999.999\u00b5s"},
      {2200us, "2.2ms"},
      {100ms, "100ms"},
      {1s, "1s"},
      {3300ms, "3.3s"},
      {60s, "1m0s"},
      {4min + 5s, "4m5s"},
      {4min + 5001ms, "4m5.001s"},
      {15min, "15m0s"},
      {1h, "1h0m0s"},
      {5h + 6min + 7001ms, "5h6m7.001s"},
      {8min + 1ns, "8m0.000000001s"},
      {128580906589ns, "2m8.580906589s"},
      {-1500ms, "-1.5s"},
      {Duration::max(), "2562047h47m16.854775807s"},
      {Duration::min(), "-2562047h47m16.854775808s"},
  };
  for (const auto& [duration, expected] : cases) EXPECT_EQ(format_duration(duration), expected);
}

TEST(FormatDuration, IsReadBackAsItself) {
  // Every digit in every place, across all the units.
  for (std::int64_t ns = 1; ns < Duration::max().count() / 10; ns = ns * 7 + 3) {
    for (const Duration duration : {Duration(ns), Duration(-ns)}) {
      EXPECT_EQ(parse_duration(format_duration(duration)), duration);
    }
  }
  EXPECT_EQ(parse_duration(format_duration(Duration::max())), Duration::max());
}

TEST(FromSeconds, CutsToWholeNanoseconds) {
  EXPECT_EQ(from_seconds(0), 0ns);
  EXPECT_EQ(from_seconds(0.1), 100ms);
  EXPECT_EQ(from_seconds(-1.5), -1500ms);
  EXPECT_EQ(from_seconds(1.75e-9), 1ns);
  EXPECT_EQ(from_seconds(-1.75e-9), -1ns);
}

TEST(FromSeconds, SaturatesWhereItDoesNotFit) {
  EXPECT_EQ(from_seconds(9.3e9), Duration::max());
  EXPECT_EQ(from_seconds(-9.3e9), Duration::min());
  EXPECT_EQ(from_seconds(1e300), Duration::max());
  EXPECT_EQ(from_seconds(kInfinity), Duration::max());
  EXPECT_EQ(from_seconds(-kInfinity), Duration::min());
  EXPECT_EQ(from_seconds(kNan), 0ns);
  EXPECT_LT(from_seconds(9.2e9), Duration::max());
}

TEST(ToSeconds, IsTheInverse) {
  EXPECT_EQ(to_seconds(100ms), 0.1);
  EXPECT_EQ(to_seconds(-2s), -2.0);
  EXPECT_EQ(to_seconds(2671444385ns), 2.671444385);
}

TEST(Scale, RoundsToTheNearestNanosecond) {
  EXPECT_EQ(scale(100ms, 2.71828), 271828us);
  EXPECT_EQ(scale(3ns, 0.5), 2ns);  // 1.5
  EXPECT_EQ(scale(10ns, 0.44), 4ns);
  EXPECT_EQ(scale(1s, 0), 0s);
  EXPECT_EQ(scale(-1s, 1.5), -1500ms);
}

TEST(Scale, Saturates) {
  EXPECT_EQ(scale(Duration::max(), 2), Duration::max());
  EXPECT_EQ(scale(Duration::max(), -2), Duration::min());
  EXPECT_EQ(scale(1s, kInfinity), Duration::max());
  EXPECT_EQ(scale(0s, kInfinity), 0s);
}

TEST(SaturatingAdd, StopsAtTheEndOfTime) {
  EXPECT_EQ(saturating_add(1s, 2s), 3s);
  EXPECT_EQ(saturating_add(-1s, 2s), 1s);
  EXPECT_EQ(saturating_add(Duration::max(), 1ns), Duration::max());
  EXPECT_EQ(saturating_add(1ns, Duration::max()), Duration::max());
  EXPECT_EQ(saturating_add(0ns, Duration::max()), Duration::max());
  EXPECT_EQ(saturating_add(Duration::max(), -1ns), Duration::max() - 1ns);
  EXPECT_EQ(saturating_add(Duration::max(), Duration::min()), -1ns);
  EXPECT_EQ(saturating_add(Duration::min(), -1ns), Duration::min());
  EXPECT_EQ(saturating_add(TimePoint(5s), 1s), TimePoint(6s));
  EXPECT_EQ(saturating_add(TimePoint(5s), Duration::max()), TimePoint::max());
}

TEST(BriefDuration, LeavesOutZerosAtTheEnd) {
  EXPECT_EQ(brief_duration(120s), "2m");
  EXPECT_EQ(brief_duration(90s), "1m30s");
  EXPECT_EQ(brief_duration(100s), "1m40s");
  EXPECT_EQ(brief_duration(7200s), "2h");
  EXPECT_EQ(brief_duration(7260s), "2h1m");
  EXPECT_EQ(brief_duration(0s), "0s");
  EXPECT_EQ(brief_duration(10s), "10s");
}

}  // namespace
}  // namespace retrystorm
