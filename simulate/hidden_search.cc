#include "simulate/hidden_search.h"

#include <algorithm>
#include <iostream>

#include "common/cli/options.h"
#include "common/output/fixed.h"
#include "common/output/json_lines.h"
#include "common/output/json_text.h"
#include "common/output/report.h"
#include "common/output/start_json.h"
#include "common/output/work_output.h"
#include "simulate/before_run.h"
#include "simulator/simulation.h"
#include "study/hidden_capacity.h"
#include "study/scenario_checks.h"
#include "study/threads.h"

namespace retrystorm {
namespace {

void print(const HiddenCapacity& found) {
  const std::size_t seeds = found.thresholds.size();
  std::cout << "stays down with all its load: " << found.stay_down << " of " << seeds << " runs\n";
  if (found.stay_down == 0) {
    std::cout << "nothing is hidden: the service does not stay down\n";
    return;
  }
  if (found.never > 0) {
    std::cout << "does not come back at " << fixed(100 * kReliefStep, 1)
              << " % of it either: " << found.never << " of these runs\n";
  }
  const auto& [share, interval] = found.share;
  if (share == 0) {
    std::cout << "no cut of the load gets it back within the time\n";
    return;
  }
  std::cout << "comes back at: " << fixed(100 * share, 1) << " % of its load or less (median";
  if (interval) {
    std::cout << ", 95 % interval " << fixed(100 * interval->low, 1) << " to "
              << fixed(100 * interval->high, 1) << " %";
  }
  std::cout << ")\nhidden capacity: " << fixed(share * found.baseline_ok, 1)
            << " requests/s, where " << fixed(found.baseline_ok, 1)
            << " were served before the outage\n";
}

nlohmann::ordered_json to_json(const HiddenCapacity& found) {
  const bool any = found.stay_down > 0;
  const auto end = [&](double Interval::*side) {
    const auto& interval = found.share.interval;
    return any && interval ? share_json(*interval.*side) : nlohmann::ordered_json(nullptr);
  };
  return {{"type", "hidden_capacity"},
          {"runs", found.thresholds.size()},
          {"stay_down", found.stay_down},
          {"never_back", found.never},
          {"share", any ? share_json(found.share.value) : nlohmann::ordered_json(nullptr)},
          {"share_low", end(&Interval::low)},
          {"share_high", end(&Interval::high)},
          {"baseline_ok", rounded(found.baseline_ok)}};
}

}  // namespace

int find_hidden(const Invocation& invocation, const SimulatorOptions& options, std::uint64_t seed) {
  constexpr std::size_t kSeeds = 20;
  const std::size_t seeds = options.runs > 1 ? options.runs : kSeeds;
  const Scenario scenario = relieved(options, options.relief, 1, seed);
  check_length(scenario);
  check_verdict(scenario);
  const std::size_t threads = threads_or_cores(options.threads);
  check_memory(scenario, std::min(threads, seeds), memory_limit());
  auto start = options_json(invocation.app);
  start["seed"] = seed;
  WorkOutput output(OutputFile(options.json));
  JsonLines& json = output.json();
  tell_seed(options, seed);
  tell_outlook(invocation, options, options, start);
  json.write(start_json("simulate", invocation.command, start));
  const auto found = find_hidden_capacity(options, options.relief, seeds, seed, threads,
                                          [&output] { return output.interrupted(); });
  if (found) {
    for (const Threshold& each : found->thresholds) {
      json.write({{"type", "threshold"},
                  {"seed", each.seed},
                  {"stays_down", each.stays_down},
                  {"share", share_json(each.share)}});
    }
    json.write(to_json(*found));
    print(*found);
  } else if (output.has_reader()) {
    std::cerr << "interrupted\n";
  }
  const int code = output.finish();
  return found ? code : std::max(code, 1);
}

}  // namespace retrystorm
