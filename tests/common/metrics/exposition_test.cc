#include "common/metrics/exposition.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

TEST(Exposition, IsThePrometheusTextForm) {
  EXPECT_EQ(exposition({counter("a_total", "Help.", 3), gauge("b_seconds", "More help.", 0.25)}),
            "# HELP a_total Help.\n"
            "# TYPE a_total counter\n"
            "a_total 3\n"
            "# HELP b_seconds More help.\n"
            "# TYPE b_seconds gauge\n"
            "b_seconds 0.25\n");
}

TEST(Exposition, LabelsTheMembersOfAFamily) {
  EXPECT_EQ(exposition({counters("a_total", "H.", "result", {{"x", 1}, {"y", 2}})}),
            "# HELP a_total H.\n"
            "# TYPE a_total counter\n"
            "a_total{result=\"x\"} 1\n"
            "a_total{result=\"y\"} 2\n");
}

TEST(Exposition, DescribesTheProcess) {
  const std::string text = exposition(process_families());
  EXPECT_NE(text.find("retrystorm_build_info{version=\""), text.npos);
  EXPECT_NE(text.find("# TYPE process_cpu_seconds_total counter\n"), text.npos);
}

}  // namespace
}  // namespace retrystorm
