// What many runs of one cell say together.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "model/run/recovery.h"
#include "simulator/simulation.h"
#include "simulator/statistics.h"

namespace retrystorm {

// What is kept of one run.
struct RunResult {
  Verdict verdict = Verdict::kNoOutage;
  std::optional<Duration> errors_gone{}, time_to_recovery{};
  double amplification = 1;
  double success_share = 1;
  double gave_up = 0;
  double not_sent = 0;
  std::optional<Duration> request_p50{}, request_p99{};  // of the times of requests
  double ok_lost = 0;
  std::size_t peak_concurrency = 0;
  // Of a job, and of a rate limit.
  std::optional<Duration> makespan{};
  std::optional<double> throttled_share{}, idle_share{}, provided{};
};

RunResult result_of(const SimulationResult& run);

// All runs of one cell.
struct CellResult {
  std::size_t runs = 0;
  // By verdict: together all runs, where there was an outage.
  std::size_t recovered = 0, relapsed = 0, recovering = 0, undecided = 0, collapsed = 0;
  bool had_outage() const { return recovered + relapsed + recovering + undecided + collapsed > 0; }
  Interval collapse_interval{};  // 95 %
  // What came back does not count as gone, nor a service that died again as recovered: errors gone
  // are those of runs that are recovered or recovering, the recovery that of the recovered. In all
  // others it took longer than they were observed.
  std::optional<Duration> errors_gone_median{}, errors_gone_p90{};
  std::optional<Duration> recovery_median{}, recovery_p90{};
  std::optional<TimeInterval> recovery_interval{};  // of the median
  Mean amplification{.value = 1, .interval = {}};
  Mean success_share{.value = 1, .interval = {}};
  double gave_up = 0;                                    // mean of a run
  double not_sent = 0;                                   // likewise
  std::optional<Duration> request_p50{}, request_p99{};  // medians over the runs
  double ok_lost = 0;                                    // mean
  std::size_t peak_concurrency = 0;
  // Of a job: the median over the runs, in which one that was not done took longer than all others.
  std::optional<Duration> makespan_median{};
  std::optional<TimeInterval> makespan_interval{};  // of the median
  // Means, where there is a job or a rate limit: of the attempts that were throttled, of the
  // capacity that was idle, and of the unit-seconds provided.
  std::optional<double> throttled_share{}, idle_share{}, provided{};
};

CellResult summarize(const std::vector<RunResult>& runs);

}  // namespace retrystorm
