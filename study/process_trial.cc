#include "study/process_trial.h"

#include "model/run/outlook.h"

namespace retrystorm {

std::vector<ScenarioOptions> with_other_processes(const ScenarioOptions& options,
                                                  const NamedOptions& given) {
  const WorkloadOptions& workload = options.workload;
  if (given.contains("processes") || given.contains("clients-per-process") ||
      !grows_with_processes(workload.retry.process.budget)) {
    return {};
  }
  const std::size_t count = process_count(workload);
  std::vector<ScenarioOptions> others;
  for (const std::size_t other : {4 * count, count / 4}) {
    constexpr std::size_t kMost = 10'000;
    const bool fits =
        workload.arrivals == Arrivals::kOpen ? other <= kMost : other <= workload.clients;
    if (other == 0 || !fits) continue;
    others.push_back(options);
    others.back().workload.processes = other;
    others.back().workload.clients_per_process.reset();
  }
  return others;
}

}  // namespace retrystorm
