#include "model/run/workload.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "model/retry/strategies.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

WorkloadOptions workload_of(std::string_view settings) {
  WorkloadOptions workload;
  OptionList options;
  declare_options(options, workload);
  options.apply(settings);
  return workload;
}

TEST(Connections, OfALibraryAreThoseOfTheStrategysFile) {
  const ConnectionSettings urllib3 =
      workload_of("strategy = urllib3\nconnections = library\n").connections;
  EXPECT_EQ(urllib3.kind, Connections::kKeepAlive);
  EXPECT_EQ(urllib3.pool_max_idle, 1u);
  EXPECT_EQ(urllib3.pool_size, ConnectionSettings::kUnbounded);
  const ConnectionSettings java =
      workload_of("strategy = aws-java-2025\nconnections = library\n").connections;
  EXPECT_EQ(java.pool_size, 50u);
  EXPECT_EQ(java.pool_idle, 1min);
  EXPECT_EQ(java.pool_wait, 10s);
  EXPECT_FALSE(java.pool_wait_counts);
  EXPECT_EQ(workload_of("strategy = fixed\nconnections = library\n").connections,
            ConnectionSettings());
}

TEST(Connections, OfALibraryAreOverriddenByOptionsOfTheirOwn) {
  const ConnectionSettings own =
      workload_of("strategy = aws-java-2025\nconnections = library\npool-size = 7\n").connections;
  EXPECT_EQ(own.pool_size, 7u);
  EXPECT_EQ(own.pool_wait, 10s);
}

// gRPC has a deadline for each call, and no timeout of an attempt.
TEST(Connections, OfGrpcMakeTheTimeoutThatOfTheWholeRequest) {
  const std::string library = "strategy = grpc\nconnections = library\n";
  const WorkloadOptions grpc = workload_of("timeout = 3s\n" + library);
  EXPECT_EQ(grpc.connections.kind, Connections::kMultiplexed);
  EXPECT_EQ(grpc.connections.most(), 1u);
  EXPECT_EQ(grpc.retry.limit.deadline, 3s);
  EXPECT_EQ(grpc.retry.limit.deadline_check, DeadlineCheck::kAtEnd);
  EXPECT_EQ(
      workload_of("strategy = grpc\ndeadline = 5s\nconnections = library\n").retry.limit.deadline,
      5s);
  EXPECT_FALSE(workload_of("timeout = none\n" + library).retry.limit.has_deadline());
  EXPECT_FALSE(
      workload_of("strategy = grpc\nconnections = multiplexed\n").retry.limit.has_deadline());
}

TEST(Connections, NameTheLibraryAmongTheirChoices) {
  try {
    workload_of("connections = pooled\n");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("library"), std::string::npos) << error.what();
  }
}

TEST(Connections, CannotBeIdleInAGreaterNumberThanThereAre) {
  const std::string pool = "connections = keep-alive\npool-size = 5\npool-max-idle = ";
  EXPECT_TRUE(unused_options(workload_of(pool + "4\n")).empty());
  EXPECT_TRUE(unused_options(workload_of(pool + "5\n")).contains("pool-max-idle"));
  EXPECT_TRUE(unused_options(workload_of("connections = keep-alive\npool-size = 5\n")).empty());
}

TEST(LibraryWay, IsKnownOfEachStrategy) {
  for (const NamedStrategy& each : named_strategies()) {
    EXPECT_NO_THROW(library_way(each.name)) << each.name;
    EXPECT_FALSE(each.connections.empty()) << each.name;
  }
  EXPECT_THROW(library_way("nothing"), std::invalid_argument);
}

}  // namespace
}  // namespace retrystorm
