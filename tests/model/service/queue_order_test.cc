#include "model/service/queue_rules.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

TEST(QueueOrder, IsReadAsItIsPrinted) {
  for (const char* text : {"fifo", "lifo", "adaptive-lifo:0", "adaptive-lifo:17"}) {
    EXPECT_EQ(to_string(parse_queue_order(text)), text);
  }
}

TEST(QueueOrder, RefusesOtherText) {
  for (const char* text : {"", "FIFO", "fifo:1", "random", "adaptive-lifo", "adaptive-lifo:",
                           "adaptive-lifo:-1", "adaptive-lifo:1.5", "adaptive-lifo:1:2"}) {
    EXPECT_THROW(parse_queue_order(text), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace retrystorm
