#include <bit>
#include <charconv>

#include "explorer/engine/standard_library.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

std::string ours(double value, bool fixed) {
  char text[400];
  return {text, shortest_number(text, text + sizeof(text), value, fixed)};
}

std::string theirs(double value, bool fixed) {
  char text[400];
  char* const end = text + sizeof(text);
  return {text, fixed ? std::to_chars(text, end, value, std::chars_format::fixed).ptr
                      : std::to_chars(text, end, value).ptr};
}

void expect_same(double value) {
  for (const double each : {value, -value}) {
    ASSERT_EQ(ours(each, false), theirs(each, false)) << std::bit_cast<std::uint64_t>(each);
    ASSERT_EQ(ours(each, true), theirs(each, true)) << std::bit_cast<std::uint64_t>(each);
  }
}

TEST(ShortestNumber, IsThatOfTheStandardLibraryForAnyBits) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 5'000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (std::isfinite(value)) expect_same(value);
  }
}

// The next number below a power of two is half as far away as the next one above.
TEST(ShortestNumber, IsThatOfTheStandardLibraryAtPowers) {
  for (int exponent = -1074; exponent < 1024; ++exponent) {
    const double power = std::ldexp(1.0, exponent);
    for (const double each :
         {power, std::nextafter(power, 0), std::nextafter(power, HUGE_VAL), 3 * power}) {
      if (std::isfinite(each)) expect_same(each);
    }
  }
  for (int exponent = -323; exponent <= 308; ++exponent) {
    const double power = std::strtod(("1e" + std::to_string(exponent)).c_str(), nullptr);
    for (const double each : {power, std::nextafter(power, 0), std::nextafter(power, HUGE_VAL),
                              5 * power, 9.5 * power}) {
      if (std::isfinite(each)) expect_same(each);
    }
  }
}

TEST(ShortestNumber, IsThatOfTheStandardLibraryForShortDecimals) {
  for (int i = 0; i < 3'000; ++i) {
    expect_same(i);
    expect_same(i / 2.0);
    expect_same(i / 1000.0);
    expect_same(i * 1e5);
    expect_same(std::ldexp(i, 50));
  }
}

TEST(ShortestNumber, IsThatOfTheStandardLibraryAtTheEnds) {
  using Limits = std::numeric_limits<double>;
  for (const double each :
       {0.0, Limits::min(), Limits::denorm_min(), Limits::max(), Limits::epsilon(),
        Limits::infinity(), 9007199254740993.0, 1e22, 1e23}) {
    expect_same(each);
  }
  EXPECT_EQ(ours(Limits::quiet_NaN(), false), "nan");
}

TEST(ShortestNumber, WritesNothingIfThereIsNoRoom) {
  char text[4];
  EXPECT_EQ(shortest_number(text, text + 3, 1.25, false), text);
  EXPECT_EQ(shortest_number(text, text + 4, 1.25, false), text + 4);
}

}  // namespace
}  // namespace retrystorm
