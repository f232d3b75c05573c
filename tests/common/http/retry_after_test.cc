#include "common/http/headers.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// Unix time of the example of RFC 9110.
constexpr std::int64_t kNovember = 784111777;

TEST(RetryAfter, IsSecondsOrADate) {
  EXPECT_EQ(parse_retry_after("0", kNovember), 0s);
  EXPECT_EQ(parse_retry_after("120", kNovember), 2min);
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", kNovember), 0s);
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:50:07 GMT", kNovember), 30s);
  EXPECT_EQ(parse_retry_after("Mon, 07 Nov 1994 08:49:37 GMT", kNovember), 24h);
  EXPECT_EQ(parse_retry_after("Sat, 05 Nov 1994 08:49:37 GMT", kNovember), 0s);  // past
}

TEST(RetryAfter, IgnoresGarbage) {
  for (const char* text : {"", " ", "-1", "+5", "1.5", "5s", "soon", "99999999999", "1000000001",
                           "0x10", "Sun, 06 Nov 1994 08:49:37", "Sun, 31 Feb 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
                           "Sun, 06 Nov 1994 08:49:3x GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                           "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(parse_retry_after(text, kNovember), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace retrystorm
