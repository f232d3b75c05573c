// The clients of a run: how many, how busy, how patient, how they retry.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/retry/retry_settings.h"
#include "model/run/job.h"

namespace retrystorm {

// Who asks.
enum class Arrivals {
  kClosed,  // each client thinks after its answer, as in the article
  kOpen,    // requests arrive at Poisson times, whatever became of those before
  kJob,     // workers come, do their tasks, call after call, and leave
};

struct WorkloadOptions {
  Arrivals arrivals = Arrivals::kClosed;
  std::size_t clients = 1000;
  double rate = 100;  // open: requests a second
  JobSettings job{};
  Duration think_time = std::chrono::seconds(10);  // mean
  Duration timeout = std::chrono::seconds(2);
  std::optional<std::uint64_t> seed;      // random when not given
  std::size_t clients_per_process = 100;  // that share a retry budget and gates
  RetrySettings retry;

  // Workers of a job do not think.
  Duration mean_think_time() const {
    return arrivals == Arrivals::kJob ? Duration::zero() : think_time;
  }
};

// Requests a second, where they come from outside; 0 otherwise.
inline double arrival_rate(const WorkloadOptions& workload) {
  return workload.arrivals == Arrivals::kOpen ? workload.rate : 0;
}

void declare_options(OptionList& options, WorkloadOptions& workload);

// Adds the options that were given but can have no effect.
void find_unused(UnusedOptions& unused, const WorkloadOptions& workload);

}  // namespace retrystorm
