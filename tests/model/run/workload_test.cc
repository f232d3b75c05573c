#include "model/run/workload.h"

#include "model/retry/strategies.h"
#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

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
  test::expect_refusals(workload_of, {{"connections = pooled\n", "library"}});
}

TEST(Connections, CannotBeIdleInAGreaterNumberThanThereAre) {
  const std::string pool = "connections = keep-alive\npool-size = 5\npool-max-idle = ";
  EXPECT_TRUE(unused_of_part(workload_of(pool + "4\n")).empty());
  EXPECT_TRUE(unused_of_part(workload_of(pool + "5\n")).contains("pool-max-idle"));
  EXPECT_TRUE(unused_of_part(workload_of("connections = keep-alive\npool-size = 5\n")).empty());
}

TEST(LibraryWay, IsKnownOfEachStrategy) {
  for (const NamedStrategy& each : named_strategies()) {
    EXPECT_NO_THROW(library_way(each.name)) << each.name;
    EXPECT_FALSE(each.connections.empty()) << each.name;
  }
  EXPECT_THROW(library_way("nothing"), std::invalid_argument);
}

// What the libraries' own documents and sources say of a pool for one host.
TEST(LibraryWay, IsThatOfEachLibrary) {
  const std::map<std::string_view, std::string_view> kWays{
      // undici: no bound, keepAliveTimeout 4 s. Java's SDK: maxConnections 50, connectionMaxIdleTime 60 s,
      // connectionAcquisitionTimeout 10 s. JavaScript's: maxSockets 50. botocore: max_pool_connections 10, not blocking.
      {"anthropic", "kind=keep-alive idle=4s"},
      {"openai", "kind=keep-alive idle=4s"},
      {"aws-java-2025", "kind=keep-alive size=50 idle=1m0s wait=10s apart"},
      {"aws-java-2025-dynamodb", "kind=keep-alive size=50 idle=1m0s wait=10s apart"},
      {"aws-js-2025", "kind=keep-alive size=50"},
      {"aws-standard", "kind=keep-alive size=50"},
      {"aws-dynamodb", "kind=keep-alive size=50"},
      {"aws-adaptive", "kind=keep-alive most-idle=10"},
      {"aws-legacy", "kind=keep-alive most-idle=10"},
      {"aws-legacy-dynamodb", "kind=keep-alive most-idle=10"},
      {"aws-standard-2025", "kind=keep-alive most-idle=10"},
      // ClientConfiguration.maxConnections 25.
      {"aws-cpp-2025", "kind=keep-alive size=25 apart again"},
      // .NET: PooledConnectionIdleTimeout 1 min. Java: jdk.httpclient.keepalive.timeout 30 s.
      {"azure", "kind=keep-alive idle=1m0s again"},
      {"polly", "kind=keep-alive idle=1m0s again"},
      {"resilience4j", "kind=keep-alive idle=30s again"},
      {"resilience4j-retry", "kind=keep-alive idle=30s again"},
      // Go: MaxIdleConnsPerHost 2, or with cleanhttp GOMAXPROCS + 1; IdleConnTimeout 90 s.
      {"cenkalti", "kind=keep-alive most-idle=2 idle=1m30s again"},
      {"go-retryablehttp", "kind=keep-alive most-idle=5 idle=1m30s again"},
      // Envoy: max_connections 1024, idle_timeout 1 h. urllib3: maxsize 1, block False.
      {"envoy", "kind=keep-alive size=1024 idle=1h0m0s"},
      {"envoy-budget", "kind=keep-alive size=1024 idle=1h0m0s"},
      {"retryguard", "kind=keep-alive size=1024 idle=1h0m0s"},  // a mesh of Envoys
      {"urllib3", "kind=keep-alive most-idle=1"},
      {"finagle", "kind=keep-alive"},
      {"google-cloud", "kind=multiplexed"},
      {"grpc", "kind=multiplexed"},
      {"hbase", "kind=multiplexed streams=10000"},
      {"linkerd", "kind=multiplexed again"},
  };
  for (const NamedStrategy& each : named_strategies()) {
    const ConnectionSettings way = library_way(each.name).connections;
    const auto found = kWays.find(each.name);
    if (found == kWays.end()) {
      EXPECT_EQ(way, ConnectionSettings()) << each.name << " is no library";
      continue;
    }
    std::string text = way.multiplexed() ? "kind=multiplexed" : "kind=keep-alive";
    const auto add = [&text](bool differs, const std::string& what) {
      if (differs) text += ' ' + what;
    };
    add(way.pool_size != ConnectionSettings::kUnbounded, "size=" + std::to_string(way.pool_size));
    add(way.pool_max_idle != ConnectionSettings::kUnbounded,
        "most-idle=" + std::to_string(way.pool_max_idle));
    add(way.pool_idle != Duration::max(), "idle=" + format_duration(way.pool_idle));
    add(way.pool_wait != Duration::max(), "wait=" + format_duration(way.pool_wait));
    add(way.streams != 100, "streams=" + std::to_string(way.streams));
    add(!way.pool_wait_counts, "apart");  // from the timeout
    add(way.retry_lost, "again");         // what is lost
    EXPECT_EQ(text, found->second) << each.name;
  }
}

TEST(Job, WorkersComeOneAfterTheOtherAndTakeTheNextTask) {
  Job job({.tasks = 3, .calls = 2, .workers_start = 5s}, 10);
  EXPECT_EQ(job.next_start(), 0s);
  EXPECT_EQ(job.start(), 0u);
  EXPECT_EQ(job.next_start(), 5s);
  EXPECT_EQ(job.start(), 1u);
  EXPECT_EQ(job.next_start(), 10s);
  EXPECT_EQ(job.present(), 2u);

  EXPECT_TRUE(job.next_call(0));  // the task's second call
  EXPECT_TRUE(job.next_call(0));  // and the third task's first
  EXPECT_EQ(job.next_start(), std::nullopt);
  EXPECT_TRUE(job.next_call(1));
  EXPECT_FALSE(job.next_call(1));  // no task is left
  EXPECT_EQ(job.present(), 1u);
  EXPECT_FALSE(job.all_done());
  EXPECT_EQ(job.result(7s).makespan, std::nullopt);
  EXPECT_EQ(job.result(7s).done, 4u);

  EXPECT_TRUE(job.next_call(0));
  EXPECT_FALSE(job.next_call(0));
  EXPECT_TRUE(job.all_done());
  EXPECT_EQ(job.result(9s).makespan, 9s);
  EXPECT_EQ(job.result(9s).done, 6u);
}

TEST(Job, HasAMaximumOfWorkers) {
  Job job({.tasks = 100, .calls = 1, .workers_start = 0s}, 2);
  job.start();
  EXPECT_EQ(job.next_start(), 0s);
  job.start();
  EXPECT_EQ(job.next_start(), std::nullopt);
  for (int i = 0; i < 98; ++i) EXPECT_TRUE(job.next_call(0));
  EXPECT_FALSE(job.next_call(0));
  EXPECT_FALSE(job.next_call(1));
  EXPECT_TRUE(job.all_done());
}

// The first worker has done the whole job before the second would start.
TEST(Job, StartsNoWorkerWhenNoTaskIsLeft) {
  Job job({.tasks = 1, .calls = 1, .workers_start = 5s}, 10);
  job.start();
  EXPECT_EQ(job.next_start(), std::nullopt);
  EXPECT_FALSE(job.next_call(0));
  EXPECT_TRUE(job.all_done());
}

}  // namespace
}  // namespace retrystorm
