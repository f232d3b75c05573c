// Prints runs of every strategy, each number to its last bit, so that builds for machines of other
// widths can be compared byte for byte.
#include <cinttypes>
#include <cstdio>
#include <initializer_list>

#include "model/retry/retry_settings.h"
#include "model/retry/strategies.h"
#include "simulator/scenario_options.h"
#include "simulator/simulation.h"

namespace retrystorm {
namespace {

struct Printer final : RunObserver {
  void on_interval(const RunInterval& interval) override {
    const Counts& counts = interval.totals;
    std::printf("%" PRId64 " %a %a %" PRIu64 " %" PRIu64 " %" PRIu64 " %d\n",
                static_cast<std::int64_t>(interval.t.count()), interval.rates.ok,
                interval.rates.timed_out, counts.ok, counts.timed_out, counts.retries,
                static_cast<int>(interval.verdict));
  }
};

void run(const Scenario& scenario) {
  Printer printer;
  const SimulationResult result = Simulation(scenario, {.run = {&printer}}).run();
  std::printf("%" PRIu64 " events, peak %" PRIu64 ", waits %" PRId64 "\n", result.events,
              static_cast<std::uint64_t>(result.peak_concurrency),
              static_cast<std::int64_t>(result.summary.longest_without_ok.count()));
}

}  // namespace
}  // namespace retrystorm

int main() {
  using namespace retrystorm;
  using namespace std::chrono_literals;
  Scenario scenario = make_scenario({}, 1);
  for (const NamedStrategy& strategy : named_strategies()) {
    for (const std::uint64_t seed : {1ull, 2ull, ~0ull}) {
      scenario.workload.retry = retry_settings(strategy.name);
      scenario.seed = seed;
      run(scenario);
    }
  }
  scenario.service.capacity = Capacity::kWorkers;
  WorkerSettings& workers = scenario.service.workers;
  for (const char* time : {"exponential:150ms", "lognormal:150ms:2", "bimodal:100ms:.05:1s"}) {
    workers.service_time = ServiceTime::parse(time);
    for (const char* drop : {"none", "age:1s", "codel"}) {
      workers.drop = parse_queue_drop(drop);
      for (const char* order : {"fifo", "adaptive-lifo:10"}) {
        workers.order = parse_queue_order(order);
        run(scenario);
      }
    }
  }
  scenario.service.capacity = Capacity::kCurve;
  scenario.workload.clients = 100'000;
  run(scenario);
  scenario.workload.clients = 1000;
  scenario.workload.arrivals = Arrivals::kOpen;
  run(scenario);
}
