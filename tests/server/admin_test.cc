#include "server/admin.h"

#include "server/upstream.h"
#include "tests/support/samples.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

const ServerInterval kTotals{.concurrency = 1040,
                             .last_delay = 2671444385ns,
                             .counts = {.offered = 5024,
                                        .admitted = 5000,
                                        .completed = 3965,
                                        .served = 3900,
                                        .failed = 5,
                                        .rejected = {7, 8, 9}}};

TEST(ServerMetrics, HasANameForEachCount) {
  test::expect_samples(server_metrics(kTotals),
                       {{"server_concurrency", 1040},
                        {"server_delay_seconds", 2.671444385},
                        {"server_requests_offered_total", 5024},
                        {"server_requests_admitted_total", 5000},
                        {"server_requests_completed_total{result=\"served\"}", 3900},
                        {"server_requests_completed_total{result=\"failed\"}", 5},
                        {"server_requests_completed_total{result=\"wasted\"}", 60},
                        {"server_requests_rejected_total{reason=\"rate_limited\"}", 7},
                        {"server_requests_rejected_total{reason=\"shed\"}", 8},
                        {"server_requests_rejected_total{reason=\"error\"}", 9}});
}

// As the JSON has them, in this order.
TEST(ServerStatus, HasTheSameCounts) {
  auto status = server_status(kTotals, 1500ms, {});
  const auto settings = status["settings"];
  EXPECT_EQ(settings["service"], "curve");
  EXPECT_EQ(settings["base_delay"], "100ms");
  EXPECT_EQ(settings["limit"], "30");
  const std::string text = status.dump();
  EXPECT_EQ(
      text.substr(0, text.find(",\"settings\"")),
      R"({"program":"server","uptime_s":1.5,"concurrency":1040,"last_delay_s":2.671444385,)"
      R"("offered_total":5024,"admitted_total":5000,"completed_total":3965,"served_total":3900,)"
      R"("failed_total":5,"lost_total":0,)"
      R"("rejected_total":{"rate_limited":7,"shed":8,"error":9,"queue_full":0,"dropped":0,"abandoned":0})");
}

TEST(ServerStatus, HasTheStateOfTheWorkers) {
  ServerInterval totals = kTotals;
  totals.workers = {.workers = 20, .busy = 19, .waiting = 1021};
  const auto status = server_status(totals, 1s, {});
  EXPECT_EQ(status["workers"], 20);
  EXPECT_EQ(status["busy"], 19);
  EXPECT_EQ(status["waiting"], 1021);
  auto metrics = test::samples(server_metrics(totals));
  EXPECT_EQ(metrics.at("server_workers"), 20);
  EXPECT_EQ(metrics.at("server_busy_workers"), 19);
  EXPECT_EQ(metrics.at("server_waiting_requests"), 1021);
  EXPECT_FALSE(test::has_series(server_metrics(kTotals), "server_workers"));
  EXPECT_FALSE(test::has_series(server_metrics(kTotals), "server_busy_workers"));
}

TEST(ServerMetrics, HasTheCallsOfOtherServices) {
  const Upstream upstream(
      {.callees = {{.name = "db", .urls = {"http://127.0.0.1:1/"}}}, .threads = 1}, 1);
  const std::string metrics = server_metrics(kTotals, &upstream);
  EXPECT_EQ(test::samples(metrics).at("server_calls_total{to=\"db\"}"), 0);
  EXPECT_EQ(test::samples(metrics).at("server_calls_without_thread_total"), 0);
  EXPECT_FALSE(test::has_series(server_metrics(kTotals), "server_calls"));
}

}  // namespace
}  // namespace retrystorm
