#include "common/metrics/exposition.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

TEST(Exposition, IsThePrometheusTextForm) {
  Exposition metrics;
  metrics.add("a_total", "Help.", 3);
  metrics.add("b_seconds", "More help.", 0.25);
  EXPECT_EQ(metrics.text(),
            "# HELP a_total Help.\n"
            "# TYPE a_total counter\n"
            "a_total 3\n"
            "# HELP b_seconds More help.\n"
            "# TYPE b_seconds gauge\n"
            "b_seconds 0.25\n");
}

TEST(Exposition, LabelsTheMembersOfAFamily) {
  Exposition metrics;
  metrics.add("a_total", "H.", "result", {{"x", 1}, {"y", 2}});
  EXPECT_EQ(metrics.text(),
            "# HELP a_total H.\n"
            "# TYPE a_total counter\n"
            "a_total{result=\"x\"} 1\n"
            "a_total{result=\"y\"} 2\n");
}

TEST(Exposition, DescribesTheProcess) {
  Exposition metrics;
  metrics.add_process();
  const std::string text = metrics.text();
  EXPECT_NE(text.find("retrystorm_build_info{version=\""), text.npos);
  EXPECT_NE(text.find("# TYPE process_cpu_seconds_total counter\n"), text.npos);
  const std::string start = "\nprocess_start_time_seconds ";
  ASSERT_NE(text.find(start), text.npos);
  const double now = static_cast<double>(std::time(nullptr));
  const double age = now - std::stod(text.substr(text.find(start) + start.size()));
  EXPECT_TRUE(age > -2 && age < 3600) << age;
}

}  // namespace
}  // namespace retrystorm
