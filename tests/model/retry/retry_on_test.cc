#include "model/retry/retry_on.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

std::set<int> statuses_of(const RetryOn& retry_on) {
  std::set<int> covered;
  for (int status = 100; status < 700; ++status) {
    if (retry_on.covers(answered(status, std::nullopt, 1ms))) covered.insert(status);
  }
  return covered;
}

TEST(RetryOn, AddsAndTakesAwayFromLeftToRight) {
  EXPECT_EQ(statuses_of(parse_retry_on("408+503")), (std::set<int>{408, 503}));
  const std::set<int> all_but_one = statuses_of(parse_retry_on("5xx-501"));
  EXPECT_EQ(all_but_one.size(), 99u);
  EXPECT_EQ(all_but_one.count(501), 0u);
  EXPECT_EQ(statuses_of(parse_retry_on("5xx-5xx+500")), (std::set<int>{500}));
  EXPECT_TRUE(statuses_of(parse_retry_on("none")).empty());
}

TEST(RetryOn, DistinguishesFailuresWithoutAnAnswer) {
  const RetryOn transport = parse_retry_on("transport"), timeout = parse_retry_on("timeout");
  EXPECT_TRUE(transport.covers(not_connected(1ms)));
  EXPECT_FALSE(transport.covers(timed_out(2s)));
  EXPECT_TRUE(timeout.covers(timed_out(2s)));
  EXPECT_FALSE(timeout.covers(not_connected(1ms)));
  EXPECT_FALSE(timeout.covers(answered(503, std::nullopt, 1ms)));
}

// The services of AWS throttle with status 400 and say so in the body only.
TEST(RetryOn, CountsABadRequestThatIsThrottledAsTooManyRequests) {
  const AttemptResult throttled = answered(400, std::nullopt, 1ms, true);
  EXPECT_EQ(throttled.failure, Failure::kThrottled);
  EXPECT_EQ(throttled.status, 400);
  EXPECT_FALSE(throttled.accepted);
  EXPECT_TRUE(parse_retry_on("429").covers(throttled));
  EXPECT_FALSE(parse_retry_on("4xx-429").covers(throttled));

  const AttemptResult refused = answered(400, std::nullopt, 1ms, false);
  EXPECT_EQ(refused.failure, Failure::kPermanent);
  EXPECT_TRUE(refused.accepted);
  EXPECT_FALSE(parse_retry_on("429").covers(refused));

  EXPECT_EQ(answered(404, std::nullopt, 1ms, true).failure, Failure::kPermanent);
  EXPECT_EQ(answered(200, std::nullopt, 1ms, true).failure, Failure::kNone);
}

// urllib3 retries 413, 429 and 503 only if they have the header.
TEST(RetryOn, MayRequireAHint) {
  const RetryOn hinted = parse_retry_on("hinted");
  for (const int status : {413, 429, 503}) {
    EXPECT_TRUE(hinted.covers(answered(status, 1s, 1ms))) << status;
    EXPECT_FALSE(hinted.covers(answered(status, std::nullopt, 1ms))) << status;
  }
  EXPECT_FALSE(hinted.covers(answered(500, 1s, 1ms)));
}

TEST(RetryOn, CanReadItsPrintedForm) {
  for (const char* text :
       {"408+429+5xx-501+transport+timeout", "none", "hinted", "429+500+503+transport", "4xx-404",
        "429+5xx+hinted+transport", "1xx+2xx+3xx+4xx+5xx+timeout"}) {
    EXPECT_EQ(to_string(parse_retry_on(text)), text);
  }
  EXPECT_EQ(to_string(parse_retry_on("timeout+503+429")), "429+503+timeout");
}

TEST(RetryOn, RefusesUnknownNames) {
  for (const char* text : {"", "+", "503+", "6xx", "600", "99", "5x", "teapot", "503,429", "-"}) {
    EXPECT_THROW(parse_retry_on(text), std::invalid_argument) << text;
  }
}

TEST(RetryOn, IncludesFailuresOneByOne) {
  RetryOn some;
  for (const AttemptResult& each : {answered(500, std::nullopt, 1ms), timed_out(2s)}) {
    EXPECT_FALSE(some.covers(each));
    some.include(each);
    EXPECT_TRUE(some.covers(each));
  }
  EXPECT_EQ(to_string(some), "500+timeout");
  RetryOn others;
  others.include(not_connected(1ms));
  some |= others;
  EXPECT_EQ(to_string(some), "500+transport+timeout");
}

// strategies/grpc.ini retries the same for UNAVAILABLE.
TEST(RetryOn, ReadsTheNamesOfGrpcStatuses) {
  EXPECT_EQ(to_string(parse_retry_on("UNAVAILABLE")), "429+502+503+504+transport");
  EXPECT_EQ(to_string(parse_retry_on("DEADLINE_EXCEEDED")), "504+timeout");
  EXPECT_EQ(to_string(parse_retry_on("UNAVAILABLE+ABORTED-RESOURCE_EXHAUSTED")),
            "409+502+503+504+transport");
  EXPECT_EQ(parse_retry_on("deadline_exceeded"), parse_retry_on("DEADLINE_EXCEEDED"));
  EXPECT_THROW(parse_retry_on("UNAVAILABEL"), std::invalid_argument);
}

}  // namespace
}  // namespace retrystorm
