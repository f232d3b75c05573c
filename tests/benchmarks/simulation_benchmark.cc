// The cost of an event of the simulator, for several numbers of clients. A run has 30 s of calm, 20 s of
// outage and 60 s after it, with exponential backoff.
#include <benchmark/benchmark.h>

#include <fstream>
#include <string>

#include "simulate/program.h"
#include "simulator/simulation.h"

namespace retrystorm {
namespace {

// Resident memory at its peak since the last reset, in MB.
double peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") {
      double kilobytes = 0;
      status >> kilobytes;
      return kilobytes / 1e3;
    }
  }
  return 0;
}

void reset_peak_memory() {
  std::ofstream("/proc/self/clear_refs") << 5;
}

void measure(benchmark::State& state, SimulatorOptions options) {
  options.workload.retry = retry_settings("exponential");
  const Scenario scenario = make_scenario(options, 1);
  std::uint64_t events = 0;
  reset_peak_memory();
  for (auto _ : state) events += Simulation(scenario, {}).run().events;
  state.counters["events/s"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
  state.counters["peak_MB"] = peak_memory();
}

void BM_Run(benchmark::State& state) {
  SimulatorOptions options;
  options.scale = static_cast<double>(state.range(0)) / 1000;
  measure(state, options);
}
BENCHMARK(BM_Run)
    ->ArgName("clients")
    ->Arg(1'000)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Arg(10'000'000)
    ->Unit(benchmark::kMillisecond);

// A thousand workers for a million clients. Half of the workers are busy.
void BM_RunWithWorkers(benchmark::State& state, const char* service_time) {
  SimulatorOptions options;
  options.scale = 1000;
  options.service.capacity = Capacity::kWorkers;
  options.service.workers.workers = 1;
  options.service.workers.service_time = ServiceTime::parse(service_time);
  measure(state, options);
}
BENCHMARK_CAPTURE(BM_RunWithWorkers, fixed, "fixed:5ms")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_RunWithWorkers, exponential, "exponential:5ms")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace retrystorm

BENCHMARK_MAIN();
