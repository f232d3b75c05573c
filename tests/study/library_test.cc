#include "study/library.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

// While half of all attempts fail, each of 100 requests/s is retried once: 150 attempts/s, and 3/4 succeed.
TEST(Library, RunsAScenarioAndReadsItsFigures) {
  const NamedOptions options{{"rate", "100"},          {"workers", "1000"}, {"max-retries", "1"},
                             {"outage", "errors:0.5"}, {"outage-at", "5s"}, {"outage-for", "300s"},
                             {"observe", "15s"}};
  const CellResult result = run_scenario(options, 30, 7);
  EXPECT_EQ(result.runs, 30);
  EXPECT_NEAR(figure(result, "attempts_per_s_during").get<double>(), 150, 1);
  EXPECT_NEAR(figure(result, "success_during").get<double>(), 0.75, 0.005);
  EXPECT_TRUE(figure(result, "makespan_median_s").is_null());
  EXPECT_EQ(figure(run_scenario(options, 30, 7, 1), "success_during"),
            figure(result, "success_during"));
}

TEST(Library, SaysWhatItCannotRun) {
  EXPECT_THROW(run_scenario({{"no-such-option", "1"}}), std::invalid_argument);
  EXPECT_THROW(run_scenario({{"rate", "-1"}}), std::invalid_argument);
  EXPECT_THROW(run_scenario({{"observe", "1s"}}), std::invalid_argument);
  EXPECT_THROW(run_scenario({}, 0), std::invalid_argument);
  EXPECT_THROW(figure({}, "nothing"), std::invalid_argument);
}

}  // namespace
}  // namespace retrystorm
