#include "client/schedule.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/support/temp_dir.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

std::string schedule(const ClientOptions& options, std::uint64_t seed = 1) {
  std::ostringstream out;
  print_schedule(out, options, seed);
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

TEST(PrintSchedule, IsTheSameForTheSameSeed) {
  const ClientOptions options = first_waits(20, "responsive");
  EXPECT_EQ(schedule(options, 7), schedule(options, 7));
  EXPECT_NE(schedule(options, 7), schedule(options, 8));
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

// As a client does: what follows a success is another request, whose first wait is the base again.
TEST(PrintSchedule, StartsAnewAfterASuccess) {
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

}  // namespace
}  // namespace retrystorm
