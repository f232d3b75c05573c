#include "model/service/queue_rules.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// The trace of folly's rule: time and wait in milliseconds, and whether the request is dropped.
TEST(CoDel, DropsAsFollyDoes) {
  struct Asked {
    double now, wait;
    bool dropped;
  };
  CoDel codel(5ms, 100ms);
  for (const Asked& step :
       {Asked{1, 20, false}, Asked{2, 20, false}, Asked{3, 20, true}, Asked{4, 8, false},
        Asked{5, 10, false}, Asked{5, 10.001, true}, Asked{50, 3, false}, Asked{103, 30, false},
        Asked{104, 30, false}, Asked{204, 30, false}, Asked{205, 30, true}}) {
    EXPECT_EQ(
        codel.overloaded(TimePoint(from_seconds(step.now / 1e3)), from_seconds(step.wait / 1e3)),
        step.dropped)
        << step.now << " " << step.wait;
  }
}

TEST(QueueDrop, IsReadAsItIsPrinted) {
  for (const char* text : {"none", "age:1.5s", "codel:7ms:150ms"}) {
    EXPECT_EQ(to_string(parse_queue_drop(text)), text);
  }
  EXPECT_EQ(to_string(parse_queue_drop("codel")), "codel:5ms:100ms");
}

TEST(QueueDrop, RefusesOtherText) {
  for (const char* text :
       {"", "no", "age", "age:", "age:-1s", "age:1s:2s", "codel:", "codel:5ms",
        "codel:5ms:", "codel:0s:100ms", "codel:5ms:0s", "codel:5ms:100ms:1s", "length:5"}) {
    EXPECT_THROW(parse_queue_drop(text), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace retrystorm
