// A service from what is known of it: formulas by hand, pages of metrics.
#include "retrystorm/known_service.h"

#include "policies/tree.h"
#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

using std::chrono::milliseconds;

TEST(KnownService, FollowsFromItsPercentilesAndItsUse) {
  // With sigma = 1 the percentiles are a factor of e^2.3263 apart, the mean is e^0.5 times the median, and
  // the CV is sqrt(e - 1).
  const Duration p50 = milliseconds(100);
  const EstimatedService service = estimate(
      {.rate = 400, .p50 = p50, .p99 = scale(p50, std::exp(2.3263478740408408)), .used = 0.5});
  EXPECT_NEAR(service.sigma, 1, 1e-6);
  EXPECT_NEAR(to_seconds(service.mean), 0.1 * std::exp(0.5), 1e-6);
  EXPECT_NEAR(service.variation, std::sqrt(std::exp(1.0) - 1), 1e-6);
  EXPECT_NEAR(service.busy, 40 * std::exp(0.5), 1e-3);  // Little
  EXPECT_EQ(service.workers, 132u);                     // 65.9 / 0.5
  EXPECT_LT(service.waits, 1e-9);

  // One worker that is half busy: half of the requests find it busy.
  const EstimatedService one =
      estimate({.rate = 5, .p50 = milliseconds(99), .p99 = milliseconds(101), .used = 0.5});
  EXPECT_EQ(one.workers, 1u);
  EXPECT_NEAR(one.waits, 0.5, 0.01);
  // A measured mean replaces that of the percentiles, and workers are never fewer than the work needs.
  const EstimatedService busy = estimate({.rate = 100,
                                          .p50 = milliseconds(10),
                                          .p99 = milliseconds(20),
                                          .used = 0.99,
                                          .mean = milliseconds(100)});
  EXPECT_EQ(busy.mean, milliseconds(100));
  EXPECT_EQ(busy.workers, 11u);
}

TEST(KnownService, NeedsNoMoreThanOnePercentileAndTheCapacity) {
  // By hand: a CV of 0.5 is a sigma of sqrt(ln 1.25) = 0.4724, and e^(2.3263 x 0.4724) = 3.001.
  const KnownService by_p50 = completed({.rate = 400, .p50 = milliseconds(100), .capacity = 800});
  EXPECT_NEAR(to_seconds(by_p50.p99), 0.3001, 1e-4);
  EXPECT_EQ(by_p50.used, 0.5);
  EXPECT_NEAR(estimate(by_p50).variation, 0.5, 1e-6);
  EXPECT_NEAR(to_seconds(completed({.p99 = milliseconds(300)}).p50), 0.09996, 1e-4);
  const KnownService both = completed({.rate = 1, .p50 = milliseconds(1), .p99 = milliseconds(9)});
  EXPECT_EQ(both.p50, milliseconds(1));
  EXPECT_EQ(both.p99, milliseconds(9));
  EXPECT_THROW(completed({.rate = 1, .used = 0.5, .capacity = 2}), std::invalid_argument);
  EXPECT_THROW(completed({.rate = 2, .capacity = 2}), std::invalid_argument);
  // The workers themselves: 40 e^0.5 = 65.9 of them are busy.
  KnownService workers{.rate = 400,
                       .p50 = milliseconds(100),
                       .p99 = scale(milliseconds(100), std::exp(2.3263478740408408)),
                       .workers = 80};
  EXPECT_EQ(estimate(completed(workers)).workers, 80u);
  workers.workers = 65;
  EXPECT_THROW(estimate(workers), std::invalid_argument);
  EXPECT_THROW(completed({.used = 0.5, .workers = 2}), std::invalid_argument);
}

TEST(KnownService, RefusesWhatIsNone) {
  const KnownService good{.rate = 1, .p50 = milliseconds(1), .p99 = milliseconds(2), .used = 0.5};
  using Change = void (*)(KnownService&);
  expect_refusals<Change>(
      [&](Change change) {
        KnownService bad = good;
        change(bad);
        estimate(bad);
      },
      {{[](KnownService&) {}, ""},
       {[](KnownService& one) { one.p99 = one.p50; }, "--p99 must be above --p50"},
       {[](KnownService& one) { one.p50 = Duration(0); }, "--p99 must be above --p50"},
       {[](KnownService& one) { one.rate = 0; }, "--rate"},
       {[](KnownService& one) { one.used = 0; }, "--used"},
       {[](KnownService& one) { one.used = 1; }, "--used"},
       {[](KnownService& one) { one.rate = 1e12; }, "workers"}});
}

// The histogram of Prometheus' documentation of its text format.
constexpr const char* kPage =
    R"(# HELP http_request_duration_seconds A histogram of the request duration.
# TYPE http_request_duration_seconds histogram
http_request_duration_seconds_bucket{le="0.05"} 24054
http_request_duration_seconds_bucket{le="0.1"} 33444
http_request_duration_seconds_bucket{le="0.2"} 100392
http_request_duration_seconds_bucket{le="0.5"} 129389
http_request_duration_seconds_bucket{le="1"} 133988
http_request_duration_seconds_bucket{le="+Inf"} 144320
http_request_duration_seconds_sum 53423
http_request_duration_seconds_count 144320
# Finally a summary, which has a complex representation, too:
rpc_duration_seconds{quantile="0.01"} 3102
rpc_duration_seconds_sum 1.7560473e+07
rpc_duration_seconds_count 2693
http_requests_total{method="post",code="200"} 1027 1395066363000
msdos_file_access_time_seconds{path="C:\\DIR\\FILE.TXT",error="Cannot find file:\n\"FILE.TXT\""} 1.458255915e9
)";

TEST(Histogram, IsReadAsPrometheusReadsIt) {
  const TimeHistogram times = read_histogram(kPage, "");
  EXPECT_EQ(times.count, 144320);
  EXPECT_EQ(times.sum, 53423);
  // By hand: rank 72160 is in the bucket from 0.1 to 0.2.
  EXPECT_NEAR(*times.quantile(0.5), 0.1 + 0.1 * (72160.0 - 33444) / (100392 - 33444), 1e-12);
  EXPECT_NEAR(*times.quantile(0.1), 0.05 * 14432 / 24054, 1e-12);
  EXPECT_EQ(times.quantile(0.99), std::nullopt);  // above 1 s

  // Series of one name are added up; milliseconds become seconds.
  const TimeHistogram two = read_histogram(
      "a_milliseconds_bucket{le=\"100\",p=\"a,} \\\" b\"} 4 1700000000\n"
      "a_milliseconds_bucket{ p=\"c\" , le=\"100\" , } 6\n"
      "a_milliseconds_bucket{le=\"+Inf\"} 10\na_milliseconds_sum 500\na_milliseconds_count 10\n",
      "");
  EXPECT_NEAR(*two.quantile(0.5), 0.05, 1e-12);
  EXPECT_NEAR(two.sum, 0.5, 1e-12);
}

TEST(Histogram, SaysWhatIsMissing) {
  const std::string a = "a_seconds_bucket{le=\"1\"} 4\na_seconds_sum 1\na_seconds_count 4\n";
  const std::string b = "b_seconds_bucket{le=\"1\"} 4\n";
  using Page = std::pair<std::string, std::string>;  // and the metric
  expect_refusals<Page, BadFile>([](const Page& page) { read_histogram(page.first, page.second); },
                                 {{{a, ""}, ""},
                                  {{a + b, "a_seconds"}, ""},
                                  {{"hello\n{}\nx{\ny{le=\"", ""}, "there is no histogram in it"},
                                  {{a + b, ""}, "choose one with --metric: a_seconds, b_seconds"},
                                  {{a, "a_second"}, "did you mean a_seconds?"},
                                  {{b, ""}, "has no _sum and _count"}});
}

TEST(Histogram, HasTimesWithinItsBuckets) {
  const std::string half = "500\na_bucket{le=\"0.5\"} 1000\na_bucket{le=\"+Inf\"} 1000\n";
  const std::string end = "\na_count 1000", wrong = "do not fit together";
  // Of `half` between 500 x 0.1 s and 500 x 0.1 s + 500 x 0.5 s.
  expect_refusals<std::string, BadFile>(
      [](const std::string& page) { read_histogram("a_bucket{le=\"0.1\"} " + page + '\n', ""); },
      {{half + "a_sum 50" + end, ""},
       {half + "a_sum 200" + end, ""},
       {half + "a_sum 300" + end, ""},
       {half + "" + end, wrong},
       {half + "a_sum NaN" + end, wrong},
       {half + "a_sum -9" + end, wrong},
       {half + "a_sum 0" + end, wrong},
       {half + "a_sum 1e-300" + end, wrong},
       {half + "a_sum 49" + end, wrong},
       {half + "a_sum 301" + end, wrong},
       {half + "a_sum 1e6" + end, wrong},
       {half + "a_sum +Inf" + end, wrong},
       {half + "a_sum 200\na_count 900", wrong},
       {"500\na_bucket{le=\"0.5\"} 400\na_sum 99" + end, wrong},
       {"500\na_bucket{le=\"0.5\"} NaN\na_sum 99" + end, wrong},
       {"500\na_sum 1e6" + end, ""}});  // half are above the last bound
}

}  // namespace
}  // namespace retrystorm::test
