#include "common/output/line_report.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

std::ptrdiff_t lines(bool job) {
  std::ostringstream out;
  LineReport report(out);
  for (Duration t = 5s; t <= 8000s; t += 5s) {
    RunInterval interval{.t = t};
    if (job) interval.clients.mean_pause = 1s;
    report.on_interval(interval);
  }
  const std::string text = out.str();
  return std::count(text.begin(), text.end(), '\n');
}

// A line each fifth longer: 5 up to 25 s, and at most ln(8000/25)/ln(1.2) = 31.6 after it.
TEST(LineReport, HasFewLinesOfALongJob) {
  EXPECT_EQ(lines(false), 1600);
  EXPECT_LE(lines(true), 37);
  EXPECT_GE(lines(true), 25);
}

}  // namespace
}  // namespace retrystorm
