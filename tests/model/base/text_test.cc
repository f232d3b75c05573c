#include "model/base/text.h"

#include <gtest/gtest.h>

namespace retrystorm {
namespace {

TEST(Trimmed, HasNoBlanksAtItsEnds) {
  EXPECT_EQ(trimmed("a b"), "a b");
  EXPECT_EQ(trimmed(" \t a \t b \r"), "a \t b");
  EXPECT_EQ(trimmed("a\n"), "a\n");
  EXPECT_EQ(trimmed(" \t\r "), "");
  EXPECT_EQ(trimmed(""), "");
}

}  // namespace
}  // namespace retrystorm
