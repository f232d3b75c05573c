// A service from steps whose truth is known, and steps from the files of others.
#include "retrystorm/service_fit.h"

#include "common/output/style.h"
#include "model/base/random.h"
#include "policies/tree.h"
#include "retrystorm/load.h"
#include "retrystorm/measured_service.h"
#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

LoadStep step(double clients, double time, double variation = 0, std::size_t answers = 1'000) {
  return {.clients = clients,
          .rate = clients / time,
          .time = time,
          .p50 = time,
          .p95 = time,
          .variation = variation,
          .answers = answers};
}

// By the formula of the server's curve, minDelay x 2^((c - 30) / 213.2).
std::vector<LoadStep> curve_steps() {
  std::vector<LoadStep> steps;
  for (const double n :
       {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 100.0, 128.0, 200.0, 256.0, 300.0, 500.0}) {
    steps.push_back(step(n, 0.1 * std::exp2(std::max(0.0, n - 30) / 213.2)));
  }
  return steps;
}

// So many workers of .05 s: closed clients without a think time keep min(n, workers) of them busy.
std::vector<LoadStep> worker_steps(double workers, double noise = 0, double variation = 0) {
  ClientRandom random(7, 0);
  std::vector<LoadStep> steps;
  for (double n = 1; n <= 8 * workers; n *= 2) {
    const double time = 0.05 * std::max(1.0, n / workers) * std::exp(noise * random.normal());
    steps.push_back(step(n, time, variation, 400));
  }
  return steps;
}

TEST(ServiceFit, FindsTheCurve) {
  const FittedService fit = fit_service(curve_steps());
  ASSERT_EQ(fit.model.kind, ServiceModel::Kind::kCurve);
  EXPECT_NEAR(fit.model.time, 0.1, 1e-4);
  EXPECT_NEAR(fit.model.limit, 30, 1);
  EXPECT_NEAR(fit.model.growth, std::log(2) / 213.2, 2e-5);
  EXPECT_LT(fit.error, 1e-3);
  EXPECT_GT(fit.other_error, 0.1);
  // The greatest n / time(n) is where n = 1 / growth: 307.6 / (.1 e^(277.6 / 307.6)) = 1247.
  EXPECT_NEAR(fit.model.best_concurrency(), 307.6, 2);
  EXPECT_NEAR(fit.model.capacity(), 1247, 5);
}

TEST(ServiceFit, FindsWorkers) {
  for (const double workers : {1.0, 3.0, 4.0, 10.0, 64.0}) {
    const FittedService fit = fit_service(worker_steps(workers));
    ASSERT_EQ(fit.model.kind, ServiceModel::Kind::kWorkers) << workers;
    EXPECT_EQ(fit.model.workers, workers);
    EXPECT_NEAR(fit.model.time, 0.05, 1e-9);
    EXPECT_NEAR(fit.model.capacity(), workers / 0.05, 1e-6);
    EXPECT_EQ(fit.workers.low, workers);
    EXPECT_EQ(fit.workers.high, workers);
  }
}

// Eight workers of 50 ms, measured where each answer took 1.4 ms to 2.7 ms more: the excess is no curve.
TEST(ServiceFit, TakesNoOverheadForACurve) {
  const FittedService fit =
      fit_service({step(1, 0.0514), step(2, 0.0519), step(4, 0.0527), step(6, 0.0524),
                   step(8, 0.0524), step(10, 0.0632), step(12, 0.0758), step(16, 0.101)});
  ASSERT_EQ(fit.model.kind, ServiceModel::Kind::kWorkers);
  EXPECT_EQ(fit.model.workers, 8);
}

// With means that are off by 5 % (one standard deviation), as 400 answers with a CV of 1 are, the spans hold the truth.
TEST(ServiceFit, SaysHowSureItIs) {
  const FittedService fit = fit_service(worker_steps(8, 0.05, 1));
  ASSERT_EQ(fit.model.kind, ServiceModel::Kind::kWorkers);
  EXPECT_LE(fit.time.low, 0.05);
  EXPECT_GE(fit.time.high, 0.05);
  EXPECT_LT(fit.time.high / fit.time.low, 1.2);
  EXPECT_LE(fit.workers.low, 8);
  EXPECT_GE(fit.workers.high, 8);
  EXPECT_LE(fit.capacity.low, 160);
  EXPECT_GE(fit.capacity.high, 160);
}

TEST(ServiceFit, SaysWhereThereIsNoLimit) {
  std::vector<LoadStep> steps;
  for (double n = 1; n <= 64; n *= 2) steps.push_back(step(n, 0.02));
  const FittedService fit = fit_service(steps);
  EXPECT_EQ(fit.model.kind, ServiceModel::Kind::kWorkers);
  EXPECT_EQ(fit.model.workers, 0);
  EXPECT_TRUE(std::isinf(fit.model.capacity()));
  MeasuredService measured{.steps = steps, .fit = fit};
  judge(measured);
  EXPECT_FALSE(measured.known);
  EXPECT_EQ(measured.headline.id, "measure-no-knee");
  EXPECT_THROW(fit_service({step(1, 0.1), step(2, 0.1), step(4, 0.1)}), std::invalid_argument);
}

// Times that grow by 2 % from 1 to 8 clients are no curve that ends at thousands of requests a second.
TEST(MeasuredService, InventsNoLimitFromHardlyAny) {
  MeasuredService measured;
  for (const auto& [n, time] : std::vector<std::pair<double, double>>{{1, 0.0210},
                                                                      {2, 0.0210},
                                                                      {3, 0.0210},
                                                                      {4, 0.0210},
                                                                      {5, 0.0211},
                                                                      {6, 0.0212},
                                                                      {8, 0.0215}}) {
    measured.steps.push_back(step(n, time));
  }
  measured.fit = fit_service(measured.steps);
  judge(measured);
  EXPECT_FALSE(measured.known);
  EXPECT_EQ(measured.headline.id, "measure-no-knee");
}

// A service whose time jumps up and down is neither.
TEST(ServiceFit, NamesNoModelThatDoesNotFit) {
  std::vector<LoadStep> steps;
  double time = 0.01;
  for (double n = 1; n <= 64; n *= 2) steps.push_back(step(n, time = 0.1 / time * 0.01));
  for (std::size_t i = 0; i < steps.size(); i += 2) steps[i].time *= 3;
  MeasuredService measured{.steps = steps, .fit = fit_service(steps)};
  judge(measured);
  EXPECT_FALSE(measured.known);
  EXPECT_EQ(measured.headline.id, "measure-no-model");
}

// Four workers of 30 ms, and 3 ms of each answer without one: the fitted time lies between, so that the capacity is not
// that of the busy steps, 4 / 30 ms.
TEST(MeasuredService, KnowsItsCapacityNoBetterThanItsBusySteps) {
  MeasuredService measured;
  for (const double n : {1., 2., 3., 4., 6., 8., 12., 16.}) {
    measured.steps.push_back(step(n, n > 4 ? 0.030 * n / 4 : 0.033));
  }
  measured.fit = fit_service(measured.steps);
  judge(measured);
  ASSERT_TRUE(measured.known);
  const double capacity = measured.fit->model.capacity();
  EXPECT_LT(measured.fit->capacity.high, 130);
  EXPECT_LT(capacity, 130);
  EXPECT_NEAR(std::stod(settings_of(measured).at("capacity-within")), 133.3 / capacity - 1, 0.001);
}

TEST(MeasuredService, BecomesSettings) {
  MeasuredService measured{.timeout = std::chrono::seconds(1), .steps = worker_steps(4)};
  measured.fit = fit_service(measured.steps);
  measured.backlog = 2048;
  measured.serves_abandoned = true;
  measured.queued = {{1, 0}, {4, 0}, {16, 11.4}};  // of 12 that wait
  judge(measured);
  ASSERT_TRUE(measured.known);
  EXPECT_EQ(settings_of(measured), (NamedOptions{{"service", "workers"},
                                                 {"workers", "4"},
                                                 {"service-time", "fixed:50ms"},
                                                 {"accepts", "when-free"},
                                                 {"backlog", "2048"},
                                                 {"abandoned", "serve"},
                                                 {"timeout", "1s"}}));
  // The law of one client's times.
  measured.accepts.clear();
  measured.queued = {{16, 0.3}};
  measured.steps.front().variation = 1.03;
  measured.steps.front().p50 = 0.036;
  judge(measured);
  EXPECT_EQ(settings_of(measured).at("service-time"), "exponential:50ms");
  EXPECT_EQ(settings_of(measured).at("accepts"), "all");
  measured.steps.front().p50 = 0.045;
  EXPECT_EQ(settings_of(measured).at("service-time"), "lognormal:50ms:1");

  MeasuredService curve{.steps = curve_steps()};
  curve.fit = fit_service(curve.steps);
  judge(curve);
  ASSERT_TRUE(curve.known);
  EXPECT_EQ(settings_of(curve).at("service"), "curve");
  EXPECT_NEAR(std::stod(settings_of(curve).at("k")), 213.2, 1);
  EXPECT_EQ(settings_of(curve).at("curve-factor"), "2");
}

std::string clock(double seconds) {
  const auto minutes = static_cast<int>(seconds / 60);
  return "2026-11-29T01:" + std::string(minutes < 10 ? "0" : "") + std::to_string(minutes) + ':' +
         (seconds - 60 * minutes < 10 ? "0" : "") + fixed(seconds - 60 * minutes, 6);
}

TEST(StepsOfOthers, AreRead) {
  const std::string k6 = [] {
    std::string text =
        R"({"type":"Metric","data":{"name":"http_req_duration"},"metric":"http_req_duration"})"
        "\n";
    for (int i = 0; i < 1'000; ++i) {
      // Two at a time, of .1 s each; k6 stamps the end.
      for (int client = 0; client < 2; ++client) {
        text += R"({"metric":"http_req_duration","type":"Point","data":{"time":")" +
                clock(0.1 * (i + 1)) +
                R"(+02:00","value":100,"tags":{"status":"200"}}})"
                "\n";
      }
    }
    return text;
  }();
  const auto steps = steps_of_k6(k6);
  ASSERT_EQ(steps.size(), 18u);
  for (const LoadStep& each : steps) {
    EXPECT_NEAR(each.clients, 2, 0.01);
    EXPECT_NEAR(each.rate, 20, 0.5);
    EXPECT_NEAR(each.time, 0.1, 1e-9);
  }
  std::string vegeta;
  for (int i = 0; i < 1'000; ++i) {
    vegeta += R"({"code":)" + std::string(i % 10 == 0 ? "503" : "200") + R"(,"timestamp":")" +
              clock(0.1 * i) +
              R"(Z","latency":100000000})"
              "\n";
  }
  for (const LoadStep& each : steps_of_vegeta(vegeta)) {
    EXPECT_NEAR(each.clients, 1, 0.02);
    EXPECT_NEAR(each.rate, 9, 0.3);
    EXPECT_NEAR(each.errors, 0.1, 0.03);
  }
  const auto table = steps_of_table(
      "# by hand\nerror_share,mean_seconds,clients,ok_per_second\n0,0.05,1,20\n0,0.05,4,80\n");
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table[1].clients, 4);
  EXPECT_EQ(table[1].time, 0.05);
}

TEST(StepsOfOthers, AreRefusedInOneLine) {
  expect_refusals<std::string, BadFile>(
      [](const std::string& text) { steps_of_table(text); },
      {{"clients,ok_per_second\n1,2\n", "mean_seconds"},
       {"clients,ok_per_second,mean_seconds\n1,2,x\n", "line 2"},
       {"clients,ok_per_second,mean_seconds\n0,2,1\n", "line 2"}});
  expect_refusals<std::string, BadFile>(
      [](const std::string& text) { steps_of_k6(text); },
      {{"", "400"},
       {"[]\n", "line 1"},
       {R"({"metric":"http_req_duration","type":"Point","data":{}})", "line 1"}});
}

TEST(Load, KnowsPrivateAddresses) {
  for (const char* address : {"127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.1", "192.168.1.1",
                              "169.254.1.1", "::1", "fd00::1", "fe80::1", "::ffff:10.0.0.1"}) {
    EXPECT_TRUE(is_private(address)) << address;
  }
  for (const char* address : {"8.8.8.8", "172.32.0.1", "172.15.0.1", "192.169.1.1", "2001:db8::1",
                              "::ffff:8.8.8.8", "example.org", ""}) {
    EXPECT_FALSE(is_private(address)) << address;
  }
}

}  // namespace
}  // namespace retrystorm::test
