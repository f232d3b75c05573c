// The two engines side by side: what the simulator says of a run is what real programs do.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/child_process.h"

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;

struct Window {
  double t, ok, timed_out;
};

std::vector<Window> windows(const std::vector<nlohmann::json>& lines) {
  std::vector<Window> result;
  for (const auto& line : lines) {
    if (line["type"] == "interval") {
      result.push_back({line["t"], line["ok"], line["timed_out"]});
    }
  }
  return result;
}

// A strategy, and how long the server is frozen: well away from the border of collapse, where
// milliseconds decide.
class Engines : public testing::TestWithParam<std::pair<std::string, std::string>> {};

// Both draw every client's think times and waits from the same seed, so that they do not differ by
// chance, but only by what the simulator leaves out: the time that networks, processors and threads
// take. Each window is compared within 15 % of the baseline, where a run of another seed would
// differ by three times its noise of 4.5 %, and a wrong rule of the model by much more.
TEST_P(Engines, AgreeWindowByWindow) {
  // The simulator leaves out the time that programs take, of which a sanitizer makes much.
  if (kSlowness > 1) GTEST_SKIP() << "the speed of the programs is a part of what is compared";
  const TempDir dir;
  const Arguments workload{"--strategy=" + GetParam().first,
                           "--seed=1",
                           "--clients=1000",
                           "--outage-at=10s",
                           "--outage-for=" + GetParam().second,
                           "--report-interval=5s"};
  const ServerUnderTest server;
  Arguments real = workload;
  real.insert(real.end(), {"--url", server.url(), "--server-pid", std::to_string(server.pid()),
                           "--duration=40s", "--json", dir.file("real")});
  ClientUnderTest client(real);
  ASSERT_EQ(client.exit_code(40s + kPatience), 0) << client.err();
  Arguments simulated = workload;
  simulated.insert(simulated.end(), {"--observe=25s", "--json", dir.file("simulated")});
  ChildProcess simulate(RETRYSTORM_SIMULATE, simulated);
  ASSERT_EQ(simulate.exit_code(), 0) << simulate.err();

  const auto real_lines = read_json_lines(dir.file("real"));
  const auto simulated_lines = read_json_lines(dir.file("simulated"));
  EXPECT_EQ(real_lines.back()["verdict"], simulated_lines.back()["verdict"]);
  const double baseline = simulated_lines.back()["baseline_ok"];
  const double tolerance = 0.15 * baseline;
  EXPECT_NEAR(real_lines.back()["baseline_ok"], baseline, tolerance);
  const auto one = windows(real_lines), other = windows(simulated_lines);
  ASSERT_GE(one.size(), 7u);
  ASSERT_GE(other.size(), 7u);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_NEAR(one[i].ok, other[i].ok, tolerance) << "until " << other[i].t;
    EXPECT_NEAR(one[i].timed_out, other[i].timed_out, tolerance) << "until " << other[i].t;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Engines,
                         testing::Values(std::pair("exponential", "7s"),
                                         std::pair("fixed", "12s")));

}  // namespace
}  // namespace retrystorm::test
