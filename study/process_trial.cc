#include "study/process_trial.h"

#include "model/run/outlook.h"

namespace retrystorm {

std::optional<ScenarioOptions> with_processes(const ScenarioOptions& options,
                                              const NamedOptions& given, std::size_t count) {
  const WorkloadOptions& workload = options.workload;
  constexpr std::size_t kMost = 10'000;
  const bool fits =
      workload.arrivals == Arrivals::kOpen ? count <= kMost : count <= workload.clients;
  if (given.contains("processes") || given.contains("clients-per-process") || count == 0 || !fits) {
    return std::nullopt;
  }
  ScenarioOptions other = options;
  other.workload.processes = count;
  other.workload.clients_per_process.reset();
  return other;
}

std::vector<ScenarioOptions> with_other_processes(const ScenarioOptions& options,
                                                  const NamedOptions& given) {
  std::vector<ScenarioOptions> others;
  if (!grows_with_processes(options.workload.retry.process.budget)) return others;
  const std::size_t count = process_count(options.workload);
  for (const std::size_t other : {4 * count, count / 4}) {
    const auto with = with_processes(options, given, other);
    if (with) others.push_back(*with);
  }
  return others;
}

std::optional<ScenarioOptions> with_own_connections(const ScenarioOptions& options,
                                                    const NamedOptions& given) {
  const WorkloadOptions& workload = options.workload;
  const bool open = workload.arrivals == Arrivals::kOpen;
  if (!workload.connections.kept() || given.contains("pool-size")) return std::nullopt;
  auto other = with_processes(options, given, open ? 100 : workload.clients);
  if (other && !open) other->workload.connections.pool_size = 1;
  return other;
}

}  // namespace retrystorm
