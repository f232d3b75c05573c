#include "model/base/sliding_window.h"

#include "tests/support/retry_parts.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using test::kStart;

TEST(SlidingWindow, ForgetsSliceBySlice) {
  SlidingWindow<int> window(kStart, 10s, 10);
  window.add(kStart, 1);
  window.add(kStart + 999ms, 2);
  window.add(kStart + 1s, 4);
  window.add(kStart + 9999ms, 8);
  EXPECT_EQ(window.total(kStart + 9999ms), 15);
  EXPECT_EQ(window.total(kStart + 10s), 12) << "the slice of the first second";
  EXPECT_EQ(window.total(kStart + 10999ms), 12);
  EXPECT_EQ(window.total(kStart + 11s), 8);
  EXPECT_EQ(window.total(kStart + 18999ms), 8);
  EXPECT_EQ(window.total(kStart + 19s), 0);
}

TEST(SlidingWindow, ForgetsAllAfterALongTimeAndKeepsItsSlices) {
  SlidingWindow<int> window(kStart, 10s, 10);
  window.add(kStart, 1);
  window.add(kStart + 1000h + 500ms, 2);
  EXPECT_EQ(window.total(kStart + 1000h + 9999ms), 2);
  EXPECT_EQ(window.total(kStart + 1000h + 10s), 0);
}

TEST(SlidingWindow, CountsLateEntriesAsNew) {
  SlidingWindow<int> window(kStart, 10s, 10);
  window.add(kStart + 5s, 1);
  window.add(kStart + 4s, 2);
  EXPECT_EQ(window.total(kStart + 14999ms), 3);
  EXPECT_EQ(window.total(kStart + 15s), 0);
}

}  // namespace
}  // namespace retrystorm
