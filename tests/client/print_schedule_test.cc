#include "client/print_schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

std::string schedule(const ClientOptions& options, std::uint64_t seed = 1) {
  std::ostringstream out, notes;
  print_schedule(out, notes, options, seed);
  return out.str();
}

ClientOptions first_waits(std::size_t count, const char* strategy) {
  ClientOptions options;
  options.print_schedule = count;
  options.workload.retry = retry_settings(strategy);
  return options;
}

TEST(PrintSchedule, ListsTheWaitsInSeconds) {
  EXPECT_EQ(schedule(first_waits(3, "fixed")), "attempt,delay_seconds\n1,0.1\n2,0.1\n3,0.1\n");
  EXPECT_EQ(schedule(first_waits(3, "linear")), "attempt,delay_seconds\n1,1\n2,2\n3,3\n");
}

TEST(PrintSchedule, WritesEveryDigit) {
  ClientOptions options = first_waits(3, "exponential");
  options.workload.retry.backoff.jitter.amount = 0;
  EXPECT_EQ(schedule(options), "attempt,delay_seconds\n1,0.1\n2,0.271828\n3,0.738904616\n");
}

TEST(PrintSchedule, EndsWhereTheRequestIsGivenUp) {
  EXPECT_EQ(test::lines(schedule(first_waits(100, "truncated"))).size(), 1 + 7);
  ClientOptions options = first_waits(100, "fixed");
  options.workload.retry.limit.max_retries = 2;
  EXPECT_EQ(test::lines(schedule(options)).size(), 1 + 2);
}

TEST(PrintSchedule, SaysWhyItEnds) {
  const auto notes = [](const ClientOptions& options) {
    std::ostringstream out, said;
    print_schedule(out, said, options, 1);
    return said.str();
  };
  ClientOptions options = first_waits(3, "fixed");
  EXPECT_EQ(notes(options), "");
  options.workload.retry.limit.max_retries = 3;
  EXPECT_EQ(notes(options), "");
  options.workload.retry.limit.max_retries = 2;
  EXPECT_EQ(notes(options),
            "no more waits: a request is given up after 3 attempts (--max-attempts)\n");
  options.workload.retry.limit.max_retries = 0;
  EXPECT_EQ(notes(options),
            "no more waits: a request is given up after 1 attempt (--max-attempts)\n");
  // Two waits of 100 ms; a third retry would begin after the deadline.
  options.workload.retry.limit.max_retries = 5;
  options.workload.retry.limit.deadline = 250ms;
  EXPECT_EQ(notes(options), "no more waits: a request is given up after 3 attempts (--deadline)\n");
}

TEST(PrintSchedule, IsTheSameForTheSameSeed) {
  const ClientOptions options = first_waits(20, "responsive");
  EXPECT_EQ(schedule(options, 7), schedule(options, 7));
  EXPECT_NE(schedule(options, 7), schedule(options, 8));
}

// The rows behind the head, as numbers.
std::vector<std::vector<double>> rows_of(const std::string& printed) {
  std::vector<std::vector<double>> rows;
  std::vector<std::string> all = test::lines(printed);
  for (std::size_t i = 1; i < all.size(); ++i) {
    std::istringstream line(all[i]);
    rows.emplace_back();
    for (std::string cell; std::getline(line, cell, ',');) {
      if (cell != "failure" && cell != "success") rows.back().push_back(std::stod(cell));
    }
  }
  return rows;
}

// A quantile of a thousand draws differs from that of the distribution by at most five standard
// deviations, each sqrt(p * (1 - p) / 1000) / density.
double tolerance(double p, double density) {
  return 5 * std::sqrt(p * (1 - p) / 1000) / density;
}

TEST(PrintSchedule, HasTheQuantilesOfFullJitter) {
  ClientOptions options = first_waits(3, "aws-legacy");
  const std::string printed = schedule(options);
  EXPECT_EQ(test::lines(printed)[0], "attempt,delay_seconds,p5,p50,p95");
  const auto rows = rows_of(printed);
  ASSERT_EQ(rows.size(), 3);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double longest = 1 << i;  // uniform up to it
    EXPECT_LE(rows[i][1], longest);
    EXPECT_NEAR(rows[i][2], 0.05 * longest, tolerance(0.05, 1 / longest));
    EXPECT_NEAR(rows[i][3], 0.5 * longest, tolerance(0.5, 1 / longest));
    EXPECT_NEAR(rows[i][4], 0.95 * longest, tolerance(0.95, 1 / longest));
  }
}

TEST(PrintSchedule, HasTheQuantilesOfExponentialJitter) {
  ClientOptions options = first_waits(2, "fixed");
  options.workload.retry.backoff.base = 1s;
  options.workload.retry.backoff.jitter = parse_jitter("exponential");
  for (const auto& row : rows_of(schedule(options, 7))) {
    // -ln(1 - p), where the density is 1 - p.
    EXPECT_NEAR(row[2], -std::log(0.95), tolerance(0.05, 0.95));
    EXPECT_NEAR(row[3], -std::log(0.5), tolerance(0.5, 0.5));
    EXPECT_NEAR(row[4], -std::log(0.05), tolerance(0.95, 0.05));
  }
}

// The waits themselves are those of a single client.
TEST(PrintSchedule, HasQuantilesOnlyOfRandomWaitsAndOfRetries) {
  EXPECT_EQ(rows_of(schedule(first_waits(8, "aws-standard"))).size(), 2);
  EXPECT_EQ(test::lines(schedule(first_waits(8, "none"))).size(), 1);
  EXPECT_EQ(rows_of(schedule(first_waits(8, "grpc"))).size(), 3);  // no timeout is retried
  EXPECT_EQ(test::lines(schedule(first_waits(8, "hbase")))[0], "attempt,delay_seconds,p5,p50,p95");
  for (const char* strategy : {"fixed", "linear", "none", "finagle", "go-retryablehttp"}) {
    EXPECT_EQ(test::lines(schedule(first_waits(8, strategy)))[0], "attempt,delay_seconds");
  }
  // A wait that the cap cuts is not random.
  const auto rows = rows_of(schedule(first_waits(7, "truncated")));
  EXPECT_EQ(rows[6], (std::vector<double>{7, 32, 32, 32, 32}));
}

// Fails until a wait of 4 s is reached, then succeeds while it is above 1 s.
TEST(PrintSchedule, FollowsTheSleeperUpAndDown) {
  ClientOptions options = first_waits(6, "responsive");
  RetrySettings& retry = options.workload.retry;
  retry.pacer.initial_interval = 1s;
  retry.pacer.up_multiplier = 2;
  retry.pacer.down_multiplier = 0.5;
  retry.pacer.down_threshold = 1;
  retry.pacer.randomization = 0;
  options.schedule_fails_until = 4s;
  options.schedule_succeeds_above = 1s;
  EXPECT_EQ(schedule(options),
            "attempt,delay_seconds,outcome\n"
            "1,1,failure\n"
            "2,2,failure\n"
            "3,4,failure\n"
            "4,2,success\n"
            "5,1,success\n"
            "6,2,failure\n");
}

// As for a client: after a success comes another request, whose first wait is the base again.
TEST(PrintSchedule, StartsAgainAfterASuccess) {
  ClientOptions options = first_waits(7, "exponential");
  options.workload.retry.backoff.jitter.amount = 0;
  options.schedule_fails_until = 700ms;
  options.schedule_succeeds_above = 0s;
  EXPECT_EQ(schedule(options),
            "attempt,delay_seconds,outcome\n"
            "1,0.1,failure\n"
            "2,0.271828,failure\n"
            "3,0.738904616,failure\n"
            "4,0,success\n"
            "5,0.1,failure\n"
            "6,0,success\n"
            "7,0.1,failure\n");
}

// Each request has its own think time, drawn as a client draws it.
TEST(PrintSchedule, DrawsEachThinkTimeThatAWaitStartsFrom) {
  ClientOptions options = first_waits(4, "exponential");
  BackoffSettings& backoff = options.workload.retry.backoff;
  backoff.jitter = parse_jitter("none");
  backoff.from = BackoffFrom::kThinkTime;
  options.schedule_fails_until = 1ns;
  options.schedule_succeeds_above = 0s;
  ClientRandom random(5, 0);
  const double first = to_seconds(random.exponential(options.workload.think_time));
  const double second = to_seconds(random.exponential(options.workload.think_time));
  const auto rows = rows_of(schedule(options, 5));
  EXPECT_NEAR(rows[2][1] / rows[0][1], second / first, 1e-6);
}

}  // namespace
}  // namespace retrystorm
