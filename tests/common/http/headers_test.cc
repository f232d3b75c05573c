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

TEST(ErrorName, SaysWhetherARequestWasThrottled) {
  for (const char* name :
       {"ProvisionedThroughputExceededException",
        "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
        "ThrottlingException:http://internal.example/coral/", "SlowDown"}) {
    EXPECT_TRUE(names_throttling(name)) << name;
  }
  for (const char* name :
       {"", "ValidationException", "Provisioned", "slowdown", "#", ":SlowDown"}) {
    EXPECT_FALSE(names_throttling(name)) << name;
  }
}

TEST(ErrorName, IsInABodyOfJson) {
  EXPECT_EQ(parse_error_name(R"({"__type":"a#SlowDown","message":"later"})"), "a#SlowDown");
  EXPECT_TRUE(names_throttling(parse_error_name(print_throttling_error())));
  for (const char* body : {"", "no JSON", "[]", R"({"__type":7})", R"({"__type":"Slow)"}) {
    EXPECT_EQ(parse_error_name(body), "") << body;
  }
}

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

TEST(ServerTiming, ReadsItsOwnText) {
  EXPECT_EQ(print_service_time(104123us), "service;dur=104.123");
  for (const Duration time : {Duration(0), Duration(1ms), Duration(104123us), Duration(24h)}) {
    EXPECT_EQ(parse_service_time(print_service_time(time)), time);
  }
}

TEST(ServerTiming, FindsTheServiceAmongOtherEntries) {
  EXPECT_EQ(parse_service_time("cache;desc=\"hit\";dur=1, service;dur=7, db;dur=53"), 7ms);
  EXPECT_EQ(parse_service_time(" service ; desc=x ; dur = 7.5 "), 7500us);
}

TEST(ServerTiming, IgnoresOtherText) {
  for (const char* text :
       {"", "service", "service;", "service;dur", "service;dur=", "service;dur=x", "service;dur=-1",
        "service;dur=nan", "service;dur=inf", "service;dur=1e300", "service;dur=1 2",
        "services;dur=1", "db;dur=1", ";;;,,,===", "service;duration=1"}) {
    EXPECT_EQ(parse_service_time(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace retrystorm
