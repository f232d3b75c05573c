#include "common/http/headers.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

httplib::Headers carried(const Carried& what, Duration timeout) {
  httplib::Headers headers;
  what.add_to(headers, timeout);
  return headers;
}

TEST(Carried, AddsWhatIsToBeTold) {
  EXPECT_TRUE(carried({}, 1s).empty());
  EXPECT_EQ(carried({.number = 3}, 1s), (httplib::Headers{{kAttemptNumber, "3"}}));
  EXPECT_EQ(carried({.patience = true}, 1s), (httplib::Headers{{kTimeLeft, "1000"}}));
  EXPECT_TRUE(carried({.patience = true}, Duration::max()).empty());
  EXPECT_EQ(carried({.left = 2500ms}, 1s), (httplib::Headers{{kTimeLeft, "2500"}}));
}

// The caller waits at least as long as it says.
TEST(Carried, RoundsUp) {
  EXPECT_EQ(carried({.left = 1ns}, 1s), (httplib::Headers{{kTimeLeft, "1"}}));
}

TEST(TimeLeft, IsReadFromAHead) {
  const std::string line = "GET /api HTTP/1.1\r\n";
  EXPECT_EQ(parse_time_left(line + "X-Envoy-Expected-RQ-Timeout-Ms:  250 \r\n\r\n"), 250ms);
  EXPECT_EQ(parse_time_left(line + "Host: x\r\nx-envoy-expected-rq-timeout-ms:0\r\n\r\n"), 0ms);
  EXPECT_EQ(parse_time_left(line + "Host: x\r\n\r\n"), Duration::max());
  EXPECT_EQ(parse_time_left(line + "Host: x\r\n\r\nx-envoy-expected-rq-timeout-ms: 1\r\n"),
            Duration::max())
      << "it stands in the body";
}

TEST(TimeLeft, IsNotKnownBeforeTheEndOfTheHead) {
  EXPECT_EQ(parse_time_left("GET /api HTTP/1.1\r\nx-envoy-expected-rq-timeout-ms: 1\r\n"),
            std::nullopt);
}

TEST(TimeLeft, LeavesOutWhatIsNoNumber) {
  for (const char* value : {"", "-1", "1.5", "1s", "99999999999999999999999"}) {
    const std::string head = "GET / HTTP/1.1\r\nx-envoy-expected-rq-timeout-ms: ";
    EXPECT_EQ(parse_time_left(head + value + "\r\n\r\n"), Duration::max()) << value;
  }
}

}  // namespace
}  // namespace retrystorm
