#include "model/service/queue_drop.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

// The trace of folly's rule: time and wait in milliseconds, and whether the request is dropped.
TEST(CoDel, DropsAsFollyDoes) {
  struct Step {
    double now, wait;
    bool dropped;
  };
  CoDel codel(5ms, 100ms);
  for (const Step& step :
       {Step{1, 20, false}, Step{2, 20, false}, Step{3, 20, true}, Step{4, 8, false},
        Step{5, 10, false}, Step{5, 10.001, true}, Step{50, 3, false}, Step{103, 30, false},
        Step{104, 30, false}, Step{204, 30, false}, Step{205, 30, true}}) {
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

TEST(QueueDrop, RefusesWhatIsNone) {
  for (const char* text :
       {"", "no", "age", "age:", "age:-1s", "age:1s:2s", "codel:", "codel:5ms",
        "codel:5ms:", "codel:0s:100ms", "codel:5ms:0s", "codel:5ms:100ms:1s", "length:5"}) {
    EXPECT_THROW(parse_queue_drop(text), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace retrystorm
