// What the model's parts cost: the service queue and the policies.
#include <benchmark/benchmark.h>

#include "common/cli/options.h"
#include "model/retry/retry_policy.h"
#include "model/run/client_behaviour.h"
#include "model/service/service_queue.h"

namespace retrystorm {
namespace {

// One request in and one out, at this concurrency. Above the limit the delay is computed.
void BM_ServiceQueue(benchmark::State& state) {
  const auto concurrency = static_cast<std::size_t>(state.range(0));
  ServiceQueue<std::uint64_t> queue(ServiceOptions().curve());
  TimePoint now{};
  for (std::size_t i = 0; i < concurrency; ++i) queue.arrive(now, i);
  for (auto _ : state) {
    now = std::max(now, queue.next_departure());
    benchmark::DoNotOptimize(queue.depart(now));
    queue.leave();
    queue.arrive(now, 0);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ServiceQueue)->Arg(10)->Arg(1'000)->Arg(5'000);

// A failure after a few earlier failures of the same client.
void BM_AfterFailure(benchmark::State& state, const char* strategy) {
  RetrySettings settings = retry_settings(strategy);
  settings.limit.max_retries = 1'000'000;
  const ClientBehaviour behaviour(std::chrono::seconds(10), settings);
  ClientRandom random(1, 0);
  RetryState retry;
  RetryMetrics metrics;
  behaviour.start(retry, random);
  int failures = 0;
  for (auto _ : state) {
    if (++failures % 8 == 0) behaviour.policy().begin_request(retry, {});
    benchmark::DoNotOptimize(behaviour.after(TimePoint(), timed_out(std::chrono::seconds(2)), retry,
                                             nullptr, random, metrics));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(BM_AfterFailure, fixed, "fixed");
BENCHMARK_CAPTURE(BM_AfterFailure, linear, "linear");
BENCHMARK_CAPTURE(BM_AfterFailure, exponential, "exponential");
BENCHMARK_CAPTURE(BM_AfterFailure, truncated, "truncated");
BENCHMARK_CAPTURE(BM_AfterFailure, responsive, "responsive");

// A success: the next think time is drawn.
void BM_AfterSuccess(benchmark::State& state) {
  const ClientBehaviour behaviour(std::chrono::seconds(10), {});
  ClientRandom random(1, 0);
  RetryState retry;
  RetryMetrics metrics;
  for (auto _ : state) {
    benchmark::DoNotOptimize(behaviour.after(TimePoint(), {}, retry, nullptr, random, metrics));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_AfterSuccess);

}  // namespace
}  // namespace retrystorm

BENCHMARK_MAIN();
