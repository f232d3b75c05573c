#include "client/metrics.h"

#include "tests/support/samples.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

TEST(TimeHistograms, SortIntoBuckets) {
  TimeHistograms histograms;
  histograms.add_attempt(Outcome::kOk, 100300us);
  histograms.add_attempt(Outcome::kOk, 700ms);
  histograms.add_attempt(Outcome::kTimedOut, 2s);
  histograms.add_retry_wait(100ms);
  histograms.add_retry_wait(20min);
  histograms.add_request(TimeHistograms::RequestResult::kSucceeded, 2500ms);
  histograms.add_request(TimeHistograms::RequestResult::kGivenUp, 2h);
  const auto families = histograms.families();
  ASSERT_EQ(families.size(), 3);
  const auto& ok = families[0].metric[0];
  EXPECT_EQ(ok.label[0].value, "ok");
  EXPECT_EQ(ok.histogram.sample_count, 2);
  EXPECT_DOUBLE_EQ(ok.histogram.sample_sum, 0.8003);
  for (const auto& bucket : ok.histogram.bucket) {
    EXPECT_EQ(bucket.cumulative_count, bucket.upper_bound < 0.1003 ? 0
                                       : bucket.upper_bound < 0.7  ? 1
                                                                   : 2)
        << bucket.upper_bound;
  }
  const auto& waits = families[1].metric[0].histogram;
  EXPECT_EQ(waits.sample_count, 2);
  EXPECT_EQ(waits.bucket[waits.bucket.size() - 2].cumulative_count, 1);  // the last one is +Inf
  const auto& requests = families[2].metric;
  ASSERT_EQ(requests.size(), 2);
  EXPECT_EQ(requests[0].label[0].value, "succeeded");
  EXPECT_DOUBLE_EQ(requests[0].histogram.sample_sum, 2.5);
  for (const auto& bucket : requests[0].histogram.bucket) {
    EXPECT_EQ(bucket.cumulative_count, bucket.upper_bound < 2.5 ? 0 : 1) << bucket.upper_bound;
  }
  EXPECT_EQ(requests[1].label[0].value, "given_up");
  EXPECT_EQ(requests[1].histogram.sample_count, 1);
}

TEST(ClientMetrics, OfAnOpenSystem) {
  WorkloadOptions options;
  options.arrivals = Arrivals::kOpen;
  CurrentFleet fleet;
  const ClientMetrics metrics(fleet);
  fleet.set(std::make_shared<Fleet>(options, 1,
                                    HttpRequest{.url = resolve_url("http://127.0.0.1:1/api")}));
  test::expect_samples(metrics.render(), {{"arrivals_dropped_total", 0},
                                          {"arrival_threads", 0},
                                          {"latest_start_seconds", 0},
                                          {"clients{state=\"thinking\"}", 0}});
  const auto status = nlohmann::json::parse(metrics.status());
  EXPECT_EQ(status["threads"], 0);
  EXPECT_EQ(status["dropped_arrivals"], 0);
  EXPECT_EQ(status["latest_start_ms"], 0.0);
  EXPECT_FALSE(status.contains("clients"));
}

TEST(ClientMetrics, OfKeptConnections) {
  WorkloadOptions options;
  CurrentFleet fleet;
  const ClientMetrics metrics(fleet);
  const HttpRequest request{.url = resolve_url("http://127.0.0.1:1/api")};
  fleet.set(std::make_shared<Fleet>(options, 1, request));
  EXPECT_FALSE(test::has_series(metrics.render(), "connections"));
  EXPECT_FALSE(nlohmann::json::parse(metrics.status()).contains("connections"));

  options.connections.kind = Connections::kKeepAlive;
  fleet.set(std::make_shared<Fleet>(options, 1, request));
  test::expect_samples(metrics.render(), {{"connections{state=\"idle\"}", 0},
                                          {"connections{state=\"in_use\"}", 0},
                                          {"connections_opened_total", 0},
                                          {"attempts_in_line", 0},
                                          {"attempts_waited_in_line_total", 0}});
  EXPECT_EQ(nlohmann::json::parse(metrics.status())["connections"]["open"], 0);
}

TEST(ClientMetrics, OfAFleetThatHasNotStarted) {
  WorkloadOptions options;
  options.clients = 12;
  CurrentFleet fleet;
  const ClientMetrics metrics(fleet);
  EXPECT_FALSE(test::has_series(metrics.render(), "attempts_total"));
  fleet.set(std::make_shared<Fleet>(options, 1,
                                    HttpRequest{.url = resolve_url("http://127.0.0.1:1/api")}));
  test::expect_samples(metrics.render(),
                       {{"attempts_total{outcome=\"ok\"}", 0},
                        {"attempts_total{outcome=\"timed_out\"}", 0},
                        {"requests_total", 0},
                        {"retries_total", 0},
                        {"requests_given_up_total{reason=\"deadline\"}", 0},
                        {"clients{state=\"thinking\"}", 12},
                        {"clients{state=\"waiting_to_retry\"}", 0},
                        {"attempt_latency_seconds_bucket{outcome=\"error\",le=\"+Inf\"}", 0},
                        {"retry_wait_seconds_count", 0},
                        {"requests_failing", 0},
                        {"attempts_not_sent_total", 0},
                        {"request_time_seconds_count{result=\"succeeded\"}", 0}});
  const auto status = nlohmann::json::parse(metrics.status());
  EXPECT_EQ(status["clients"], 12);
  EXPECT_EQ(status["thinking"], 12);
  EXPECT_EQ(status["amplification"], 1.0);
  EXPECT_TRUE(status["latency_ms"]["p99"].is_null());
  EXPECT_EQ(status["retry_waits"]["count"], 0);
}

}  // namespace
}  // namespace retrystorm
