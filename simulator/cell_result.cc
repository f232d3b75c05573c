#include "simulator/cell_result.h"

#include <algorithm>
#include <initializer_list>

namespace retrystorm {

RunResult result_of(const SimulationResult& run) {
  const Counts& counts = run.summary.counts;
  const Recovery& recovery = run.summary.recovery;
  const LatencyHistogram requests = run.summary.latencies.requests();
  RunResult result{.verdict = recovery.verdict,
                   .errors_gone = recovery.errors_gone,
                   .time_to_recovery = recovery.time_to_recovery,
                   .amplification = counts.amplification(),
                   .success_share = counts.success_share(),
                   .gave_up = static_cast<double>(counts.gave_up()),
                   .not_sent = static_cast<double>(counts.not_sent),
                   .request_p50 = requests.quantile(0.5),
                   .request_p99 = requests.quantile(0.99),
                   .ok_lost = recovery.ok_lost,
                   .peak_concurrency = run.peak_concurrency};
  if (run.summary.job) result.makespan = run.summary.job->makespan;
  if (run.summary.job || run.summary.capacity) result.throttled_share = counts.throttled_share();
  if (run.summary.capacity) {
    result.idle_share = idle_share(run.summary.capacity->use);
    result.provided = run.summary.capacity->use.provided;
  }
  return result;
}

namespace {

// The mean of those that there are.
std::optional<double> mean_of(const std::vector<RunResult>& runs,
                              std::optional<double> RunResult::*value) {
  std::vector<double> values;
  for (const RunResult& run : runs) {
    if (run.*value) values.push_back(*(run.*value));
  }
  return values.empty() ? std::nullopt : std::optional(mean(values).value);
}

}  // namespace

CellResult summarize(const std::vector<RunResult>& runs) {
  CellResult cell;
  cell.runs = runs.size();
  std::vector<std::optional<Duration>> errors_gone, recovery, p50, p99, makespan;
  std::vector<double> amplification, success_share, gave_up, not_sent, ok_lost;
  for (const RunResult& run : runs) {
    const auto when = [&run](std::initializer_list<Verdict> verdicts,
                             const std::optional<Duration>& time) {
      const bool counts =
          std::find(verdicts.begin(), verdicts.end(), run.verdict) != verdicts.end();
      return counts ? time : std::nullopt;
    };
    cell.recovered += run.verdict == Verdict::kRecovered ? 1 : 0;
    cell.relapsed += run.verdict == Verdict::kRelapsed ? 1 : 0;
    cell.recovering += run.verdict == Verdict::kRecovering ? 1 : 0;
    cell.undecided += run.verdict == Verdict::kUndecided ? 1 : 0;
    cell.collapsed += run.verdict == Verdict::kCollapsed ? 1 : 0;
    errors_gone.push_back(when({Verdict::kRecovered, Verdict::kRecovering}, run.errors_gone));
    recovery.push_back(when({Verdict::kRecovered}, run.time_to_recovery));
    amplification.push_back(run.amplification);
    success_share.push_back(run.success_share);
    gave_up.push_back(run.gave_up);
    not_sent.push_back(run.not_sent);
    p50.push_back(run.request_p50);
    p99.push_back(run.request_p99);
    makespan.push_back(run.makespan);
    ok_lost.push_back(run.ok_lost);
    cell.peak_concurrency = std::max(cell.peak_concurrency, run.peak_concurrency);
  }
  cell.collapse_interval = wilson_interval(cell.collapsed, cell.runs);
  cell.errors_gone_median = censored_quantile(errors_gone, 0.5);
  cell.errors_gone_p90 = censored_quantile(errors_gone, 0.9);
  cell.recovery_median = censored_quantile(recovery, 0.5);
  cell.recovery_p90 = censored_quantile(recovery, 0.9);
  cell.recovery_interval = censored_median_interval(recovery);
  cell.amplification = mean(amplification);
  cell.success_share = mean(success_share);
  cell.gave_up = mean(gave_up).value;
  cell.not_sent = mean(not_sent).value;
  cell.request_p50 = censored_quantile(p50, 0.5);
  cell.request_p99 = censored_quantile(p99, 0.5);
  cell.ok_lost = mean(ok_lost).value;
  cell.makespan_median = censored_quantile(makespan, 0.5);
  cell.makespan_interval = censored_median_interval(makespan);
  cell.throttled_share = mean_of(runs, &RunResult::throttled_share);
  cell.idle_share = mean_of(runs, &RunResult::idle_share);
  cell.provided = mean_of(runs, &RunResult::provided);
  return cell;
}

}  // namespace retrystorm
