#include "study/process_trial.h"

#include <gtest/gtest.h>

namespace retrystorm {
namespace {

std::vector<std::size_t> counts(const NamedOptions& options) {
  std::vector<std::size_t> all;
  for (const ScenarioOptions& each : with_other_processes(scenario_of(options), options)) {
    all.push_back(process_count(each.workload));
  }
  return all;
}

TEST(ProcessTrial, HasFourTimesTheProcessesAndAQuarter) {
  using Counts = std::vector<std::size_t>;
  // A process for each hundred clients.
  EXPECT_EQ(counts({{"strategy", "grpc"}, {"clients", "1000"}}), (Counts{40, 2}));
  // One with open arrivals, so that there is no quarter.
  EXPECT_EQ(counts({{"strategy", "grpc"}, {"arrivals", "open"}}), Counts{4});
  // Of three clients none is for a fourth process.
  EXPECT_EQ(counts({{"strategy", "grpc"}, {"clients", "3"}}), Counts{});
  // No budget; a number that is known.
  EXPECT_EQ(counts({{"strategy", "grpc"}, {"retry-budget", "none"}}), Counts{});
  EXPECT_EQ(counts({{"strategy", "grpc"}, {"processes", "10"}}), Counts{});
  EXPECT_EQ(counts({{"strategy", "grpc"}, {"clients-per-process", "10"}}), Counts{});
}

TEST(ProcessTrial, GivesEachClientAConnectionOfItsOwn) {
  const auto other = [](const NamedOptions& options) {
    return with_own_connections(scenario_of(options), options);
  };
  const auto each = other({{"connections", "keep-alive"}, {"clients", "600"}});
  ASSERT_TRUE(each);
  EXPECT_EQ(process_count(each->workload), 600u);
  EXPECT_EQ(each->workload.connections.pool_size, 1u);
  const auto open = other({{"connections", "keep-alive"}, {"arrivals", "open"}});
  ASSERT_TRUE(open);
  EXPECT_EQ(process_count(open->workload), 100u);
  // None are kept, or it is said who shares them.
  EXPECT_FALSE(other({{"connections", "new"}}));
  EXPECT_FALSE(other({{"connections", "keep-alive"}, {"processes", "6"}}));
  EXPECT_FALSE(other({{"connections", "keep-alive"}, {"clients-per-process", "10"}}));
  EXPECT_FALSE(other({{"connections", "keep-alive"}, {"pool-size", "20"}}));
}

}  // namespace
}  // namespace retrystorm
