#include "server/admin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/upstream.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const ServerInterval kTotals{.concurrency = 1040,
                             .last_delay = 2671444385ns,
                             .counts = {.offered = 5024,
                                        .admitted = 5000,
                                        .completed = 3965,
                                        .served = 3900,
                                        .failed = 5,
                                        .rejected = {7, 8, 9}}};

TEST(ServerMetrics, HasANameForEachCount) {
  const std::string text = server_metrics(kTotals);
  for (const char* line :
       {"\nretrystorm_server_concurrency 1040\n", "\nretrystorm_server_delay_seconds 2.671444385\n",
        "\nretrystorm_server_requests_offered_total 5024\n",
        "\nretrystorm_server_requests_admitted_total 5000\n",
        "\nretrystorm_server_requests_completed_total{result=\"served\"} 3900\n",
        "\nretrystorm_server_requests_completed_total{result=\"failed\"} 5\n",
        "\nretrystorm_server_requests_completed_total{result=\"wasted\"} 60\n",
        "\nretrystorm_server_requests_rejected_total{reason=\"rate_limited\"} 7\n",
        "\nretrystorm_server_requests_rejected_total{reason=\"shed\"} 8\n",
        "\nretrystorm_server_requests_rejected_total{reason=\"error\"} 9\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(ServerStatus, HasTheSameCounts) {
  EXPECT_THAT(
      server_status(kTotals, 1500ms, {}).dump(),
      StartsWith(
          R"({"program":"server","uptime_s":1.5,"concurrency":1040,"last_delay_s":2.671444385,)"
          R"("offered_total":5024,"admitted_total":5000,"completed_total":3965,"served_total":3900,)"
          R"("failed_total":5,"lost_total":0,)"
          R"("rejected_total":{"rate_limited":7,"shed":8,"error":9,"queue_full":0,"dropped":0,"abandoned":0},"settings":{"service":"curve",)"));
  const auto settings = server_status(kTotals, 1s, {})["settings"];
  EXPECT_EQ(settings["base_delay"], "100ms");
  EXPECT_EQ(settings["limit"], "30");
}

TEST(ServerStatus, HasTheStateOfTheWorkers) {
  ServerInterval totals = kTotals;
  totals.workers = {.workers = 20, .busy = 19, .waiting = 1021};
  EXPECT_THAT(server_status(totals, 1s, {}).dump(),
              HasSubstr(R"("last_delay_s":2.671444385,"workers":20,"busy":19,"waiting":1021,)"));
  const std::string metrics = server_metrics(totals);
  EXPECT_THAT(metrics, HasSubstr("\nretrystorm_server_workers 20\n"));
  EXPECT_THAT(metrics, HasSubstr("\nretrystorm_server_busy_workers 19\n"));
  EXPECT_THAT(metrics, HasSubstr("\nretrystorm_server_waiting_requests 1021\n"));
  EXPECT_THAT(server_metrics(kTotals), ::testing::Not(HasSubstr("_workers")));
}

TEST(ServerMetrics, HasTheCallsOfOtherServices) {
  const Upstream upstream({.callees = {{.name = "db", .url = "http://127.0.0.1:1/"}}, .threads = 1},
                          1);
  const std::string metrics = server_metrics(kTotals, &upstream);
  EXPECT_THAT(metrics, HasSubstr("\nretrystorm_server_calls_total{to=\"db\"} 0\n"));
  EXPECT_THAT(metrics, HasSubstr("\nretrystorm_server_calls_without_thread_total 0\n"));
  EXPECT_THAT(server_metrics(kTotals), ::testing::Not(HasSubstr("_calls_")));
}

}  // namespace
}  // namespace retrystorm
