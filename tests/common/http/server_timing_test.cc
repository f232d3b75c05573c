#include "common/http/headers.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

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
