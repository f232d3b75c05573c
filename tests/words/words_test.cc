#include "words/words.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

TEST(Words, PutTheValuesInTheirPlaces) {
  EXPECT_EQ(words_of(Statement{"of", {{"part", 60.0}, {"all", 1247.0}}}), "60 of 1,247");
  EXPECT_EQ(words_of(Statement{"answered-after", {{"share", ShareOf{0.5}}}}), "after it 50 %");
  EXPECT_EQ(words_of(Statements{{"if-slow", {}}, {"if-load", {}}}),
            "slow, not frozen; a tenth more load");
  // What looks like a place in a value is none.
  EXPECT_EQ(words_of(Statement{"and", {}}), " and ");
  EXPECT_EQ(words_of(Statement{"turns-claim", {{"claim", std::string("{claim}")}}}),
            "{claim} is broken with");
}

// Without words of its own it still says what it means.
TEST(Words, HideNoStatement) {
  EXPECT_EQ(words_of(Statement{"unheard-of", {{"runs", 3.0}}}), "unheard-of runs=3");
}

TEST(Words, OfNumbersHaveThreeDigits) {
  EXPECT_EQ(number_words(0), "0");
  EXPECT_EQ(number_words(0.12345), "0.123");
  EXPECT_EQ(number_words(99.54), "99.5");
  EXPECT_EQ(number_words(476.4), "476");
  EXPECT_EQ(number_words(1247), "1,247");
  EXPECT_EQ(number_words(-1234567), "-1,234,567");
  EXPECT_EQ(number_words(std::numeric_limits<double>::infinity()), "unlimited");
}

TEST(Words, OfSharesKeepWhatIsMissing) {
  EXPECT_EQ(share_words(0), "0 %");
  EXPECT_EQ(share_words(1), "100 %");
  EXPECT_EQ(share_words(0.9999999999999999), "100 %");
  EXPECT_EQ(share_words(0.001), "0.1 %");
  EXPECT_EQ(share_words(0.0123), "1.2 %");
  EXPECT_EQ(share_words(0.996), "99.6 %");
  EXPECT_EQ(share_words(0.9997), "99.97 %");
  EXPECT_EQ(share_words(0.999991), "99.9991 %");
  // Never 100 % of what is not all.
  EXPECT_EQ(share_words(0.99999999), "99.999999 %");
}

TEST(Words, OfTimesHaveTheUnitsThatPeopleUse) {
  EXPECT_EQ(time_words(0s), "0 s");
  EXPECT_EQ(time_words(350ms), "350 ms");
  EXPECT_EQ(time_words(53375ms), "53.4 s");
  EXPECT_EQ(time_words(80s), "1 min 20 s");
  EXPECT_EQ(time_words(60s), "1 min");
  EXPECT_EQ(time_words(7500s), "2 h 5 min");
  EXPECT_EQ(time_words(59'990ms), "1 min");
  EXPECT_EQ(time_words(std::chrono::microseconds(20)), "20 us");
}

}  // namespace
}  // namespace retrystorm
