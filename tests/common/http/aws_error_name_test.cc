#include "common/http/headers.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

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

}  // namespace
}  // namespace retrystorm
