// A job that the real programs and the simulator run in the same way.
#include "tests/support/child_process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

// A table of 100 units a second, with minutes shortened to 0.1 s, and a job of a few seconds.
const Arguments kService{"--base-delay=5ms",
                         "--limit=1000",
                         "--rate-limit=100",
                         "--rate-burst=10s",
                         "--throttle-status=400",
                         "--hint=none",
                         "--autoscale=target-tracking",
                         "--autoscale-period=200ms",
                         "--autoscale-out-after=400ms",
                         "--autoscale-in-after=3s",
                         "--autoscale-delay=200ms",
                         "--autoscale-most=400"};
const Arguments kJob{"--arrivals=job",   "--clients=20",      "--tasks=20",
                     "--calls=150",      "--seed=1",          "--workers-start=50ms",
                     "--strategy=fixed", "--fixed-delay=50ms"};

Arguments joined(std::vector<Arguments> parts) {
  Arguments all;
  for (const Arguments& each : parts) all.insert(all.end(), each.begin(), each.end());
  return all;
}

TEST(RealJob, TakesAsLongAsTheSimulatedOne) {
  const TempDir dir;
  ChildProcess simulated(RETRYSTORM_SIMULATE,
                         joined({kService, kJob, {"--json", dir.file("simulated")}}));
  ASSERT_EQ(simulated.exit_code(), 0) << simulated.err();
  const ServerUnderTest server(kService);
  succeeded(RETRYSTORM_CLIENT,
            joined({{"--url", server.url(), "--duration=60s", "--json", dir.file("real")}, kJob}));
  const auto expected = read_json_lines(dir.file("simulated")).back();
  const auto measured = read_json_lines(dir.file("real")).back();
  EXPECT_EQ(measured["job"]["done"], 3000);
  EXPECT_EQ(measured["requests"], 3000);
  EXPECT_EQ(measured["ok"], 3000);
  EXPECT_EQ(measured["verdict"], "no outage");
  EXPECT_GT(measured["job"]["throttled_share"], 0);
  if (RETRYSTORM_SANITIZED) return;  // what follows is a time
  const double makespan = expected["job"]["makespan_s"];
  EXPECT_NEAR(measured["job"]["makespan_s"].get<double>(), makespan, 0.05 * makespan);
}

}  // namespace
}  // namespace retrystorm::test
