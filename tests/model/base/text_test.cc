#include "model/base/text.h"

#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

TEST(Trimmed, HasNoBlanksAtItsEnds) {
  EXPECT_EQ(trimmed("a b"), "a b");
  EXPECT_EQ(trimmed(" \t a \t b \r"), "a \t b");
  EXPECT_EQ(trimmed("a\n"), "a\n");
  EXPECT_EQ(trimmed(" \t\r "), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(PlainNumber, ReadsTheFormsThatPeopleWrite) {
  EXPECT_EQ(plain_number("50%"), "0.5");
  EXPECT_EQ(plain_number("0.3%"), "0.003");
  EXPECT_EQ(plain_number("10k"), "10000");
  EXPECT_EQ(plain_number("1.5k"), "1500");
  EXPECT_EQ(plain_number("1m"), "1000000");
  EXPECT_EQ(plain_number("100/s"), "100");
  EXPECT_EQ(plain_number("600/min"), "10");
  EXPECT_EQ(plain_number("90/m"), "1.5");
  EXPECT_EQ(plain_number("3600/h"), "1");
  EXPECT_EQ(plain_number("3600/hour"), "1");
  EXPECT_EQ(plain_number("1k/s"), "1000");
  EXPECT_EQ(plain_number("1.2k/min"), "20");
  EXPECT_EQ(plain_number("100rps"), "100");
  EXPECT_EQ(plain_number("100 /s"), "100");
  EXPECT_EQ(plain_number("3x"), "3");
  for (const char* text :
       {"", "7", "k", "%", "/s", "none", "1kk", "5ms", "0x1k", "1k%", "5%%", "1/s/s"}) {
    EXPECT_EQ(plain_number(text), text);
  }
}

TEST(ParseNumber, TakesAPercentageOfAShareOnly) {
  EXPECT_EQ(parse_number("10%", 0, 1), 0.1);
  EXPECT_EQ(parse_number("1k", 0, 1e9), 1000);
  EXPECT_THROW(parse_number("10%", 0, 2), std::invalid_argument);
  EXPECT_THROW(parse_number("101%", 0, 1), std::invalid_argument);
  const auto refusal = [](const char* text, double most) {
    return test::refusal_of([&] { parse_number(text, 0, most); });
  };
  EXPECT_EQ(refusal("50", 1), "'50' is not a number from 0 to 1: 50%?");
  EXPECT_EQ(refusal("500", 1), "'500' is not a number from 0 to 1");
  EXPECT_EQ(refusal("50", 10), "'50' is not a number from 0 to 10");
  EXPECT_THROW(parse_number("1/s", 0, 2), std::invalid_argument);
}

TEST(ParseRate, IsOfASecondAMinuteOrAnHour) {
  EXPECT_EQ(parse_rate("10", 0, 100), 10);
  EXPECT_EQ(parse_rate("10/s", 0, 100), 10);
  EXPECT_EQ(parse_rate("600/min", 0, 100), 10);
  EXPECT_EQ(parse_rate("600/m", 0, 100), 10);
  EXPECT_EQ(parse_rate("3600/h", 0, 100), 1);
  EXPECT_EQ(parse_rate("2k", 0, 1e4), 2000);
  EXPECT_EQ(parse_rate("2k/s", 0, 1e4), 2000);
  EXPECT_DOUBLE_EQ(parse_rate("100/min", 0, 100), 100 / 60.);
  for (const char* text :
       {"", "/s", "/min", "10/", "10/d", "10/hours", "10 / s", "10%", "10x", "6001/min"}) {
    EXPECT_THROW(parse_rate(text, 0, 100), std::invalid_argument) << text;
  }
  EXPECT_EQ(test::refusal_of([] { parse_rate("10/day", 0, 100); }),
            "'10/day' is not a rate: write it as 10 or 10/s, 600/min (600/m) or 36000/h");
  EXPECT_THROW(parse_number("600/min", 0, 1e9), std::invalid_argument);
  EXPECT_THROW(parse_count("600/min", 0, 1'000'000), std::invalid_argument);
}

TEST(ParseFactor, IsAlsoATimesOrAPercentage) {
  EXPECT_EQ(parse_factor("3", 0, 10), 3);
  EXPECT_EQ(parse_factor("3x", 0, 10), 3);
  EXPECT_EQ(parse_factor("250%", 0, 10), 2.5);
  for (const char* text : {"", "x", "%", "11x", "3xx", "3/s", "1001%", "3x%"}) {
    EXPECT_THROW(parse_factor(text, 0, 10), std::invalid_argument) << text;
  }
}

TEST(ParseSpread, RefusesABareNumberThatMayBeAPercentage) {
  EXPECT_EQ(parse_spread("10%", 100), 0.1);
  EXPECT_EQ(parse_spread("0.5", 100), 0.5);
  EXPECT_EQ(parse_spread("2", 100), 2);
  EXPECT_EQ(parse_spread("1000%", 100), 10);
  for (const char* text : {"", "-0.1", "-1%", "10001%", "0.1x", "10/s"}) {
    EXPECT_THROW(parse_spread(text, 100), std::invalid_argument) << text;
  }
  EXPECT_EQ(test::refusal_of([] { parse_spread("10", 100); }), "'10' is not clear: 10% or 1000%?");
  for (const double value : {0.0, 0.1, 2.0, 2.5, 10.0}) {
    EXPECT_EQ(parse_spread(print_spread(value), 100), value);
  }
}

TEST(ParseSpread, ReadsWhatWasPrinted) {
  for (const char* text :
       {"314.15926535897932384%", "200.00000000000003%", "200.00000000007%", "777.777777777777777%",
        "190.00000000000003%", "123456789012345678e-8%"}) {
    const double value = parse_spread(text, 1e9);
    EXPECT_EQ(parse_spread(print_spread(value), 1e9), value) << text << ", " << print_spread(value);
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const double digits = static_cast<double>(random() >> 11) * 0x1p-53;
    const std::string text = print_number(digits * std::pow(10, i % 12)) + '%';
    const double value = parse_spread(text, 1e9);
    ASSERT_EQ(parse_spread(print_spread(value), 1e9), value) << text << ", " << print_spread(value);
  }
}

TEST(NumberWithUnit, IsNoRatio) {
  EXPECT_EQ(number_with_unit("600/min", "requests/s"), "10");
  EXPECT_EQ(number_with_unit("1k/s", "requests/s"), "1000");
  EXPECT_EQ(number_with_unit("10k", "tokens"), "10k");
  EXPECT_EQ(number_with_unit("none", "requests/s"), "none");
  EXPECT_EQ(number_with_unit("100/s", "tokens"), "100/s");  // is refused as a number
  for (const char* text : {"10%", "2x"}) {
    EXPECT_THROW(number_with_unit(text, "tokens"), std::invalid_argument) << text;
    EXPECT_THROW(number_with_unit(text, "requests/s"), std::invalid_argument) << text;
  }
}

TEST(Printable, HasNoControlCharacters) {
  EXPECT_EQ(printable("a\033[31mb\r\n\tc\x7f"), "a?[31mb???c?");
  EXPECT_EQ(printable("a\n\tb\r", "\n\t"), "a\n\tb?");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m \xc3\xa9 \xe2\x86\x92"),
            "?31m \xc3\xa9 \xe2\x86\x92");
  EXPECT_EQ(in_quotes("a\033"), "'a?'");
}

TEST(AsMarkdown, HasNoMarkup) {
  EXPECT_EQ(as_markdown("<b>[a](b) `c` *d* e_f\n# g&lt;"),
            "\\<b\\>\\[a\\](b) \\`c\\` \\*d\\* e\\_f?\\# g\\&lt;");
  EXPECT_EQ(as_markdown_code("a`b<c>"), "`a'b<c>`");
}

TEST(ParseCount, TakesThousandsThatAreWhole) {
  EXPECT_EQ(parse_count("10k", 1, 1'000'000), 10'000);
  EXPECT_EQ(parse_count("1m", 1, 1'000'000), 1'000'000);
  for (const char* text : {"1.0005k", "10%", "10/s", "-1k", "k", "2m"}) {
    EXPECT_THROW(parse_count(text, 1, 1'000'000), std::invalid_argument) << text;
  }
}

TEST(Nearest, IsTheOneWithFewSlipsOrElseOneThatHasTheWord) {
  const std::vector<std::string_view> names{"backlog", "max-retries", "backoff-base", "strategy"};
  EXPECT_EQ(nearest("strategey", names), "strategy");
  EXPECT_EQ(nearest(std::string(4'000'000, 's'), names), "");
  EXPECT_EQ(nearest("backoff", names), "backoff-base");
  EXPECT_EQ(nearest("retries", names), "max-retries");
  EXPECT_EQ(nearest("max-retry", names), "max-retries");
  EXPECT_EQ(nearest("rat", {"at", "rate"}), "rate");
  EXPECT_EQ(nearest("expo", {"fixed", "exponential"}), "exponential");
  EXPECT_EQ(nearest("zzzz", names), "");
}

TEST(NearestNames, AreTheNearestFirst) {
  const std::vector<std::string_view> names{"ok", "latency_ms_p50", "latency_p9", "down", "dawn"};
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(nearest_names("latency", names, 2), (Names{"latency_p9", "latency_ms_p50"}));
  EXPECT_EQ(nearest_names("donn", names, 3), (Names{"down", "dawn", "ok"}));
  EXPECT_EQ(nearest_names("x", {"a"}, 3), Names{"a"});
}

}  // namespace
}  // namespace retrystorm
