#include "server/admin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace retrystorm {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const ServerInterval kTotals{.concurrency = 1040,
                             .last_delay = 2671444385ns,
                             .arrivals = 5000,
                             .departures = 3960,
                             .rejected_429 = 7,
                             .rejected_503 = 8};

TEST(ServerMetrics, NamesWhatIsCounted) {
  const std::string text = server_metrics(kTotals);
  for (const char* line :
       {"\nretrystorm_server_concurrency 1040\n", "\nretrystorm_server_delay_seconds 2.671444385\n",
        "\nretrystorm_server_arrivals_total 5000\n",
        "\nretrystorm_server_requests_total{result=\"served\"} 3960\n",
        "\nretrystorm_server_requests_total{result=\"rate_limited\"} 7\n",
        "\nretrystorm_server_requests_total{result=\"shed\"} 8\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(ServerStatus, SaysTheSame) {
  EXPECT_EQ(server_status(kTotals, 1500ms).dump(),
            R"({"program":"server","uptime_s":1.5,"concurrency":1040,"last_delay_s":2.671444385,)"
            R"("arrivals":5000,"departures":3960,"rejected_429":7,"rejected_503":8})");
}

}  // namespace
}  // namespace retrystorm
