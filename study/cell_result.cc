#include "study/cell_result.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>

namespace retrystorm {

namespace {

PhaseResult result_of(const PhaseFigures& phase) {
  const Rates each = rates(phase.counts, phase.length);
  const ErrorCounts& by = phase.counts.errors_by;
  return {.success = phase.success_share(),
          .gave_up = static_cast<double>(phase.gave_up),
          .not_sent = static_cast<double>(phase.counts.not_sent),
          .attempts_per_s = each.attempts,
          .ok_per_s = each.ok,
          .timed_out = static_cast<double>(phase.counts.timed_out),
          .errors = static_cast<double>(phase.counts.errors),
          .requests_per_s = each.requests,
          .request_p50 = phase.request_p50,
          .request_p99 = phase.request_p99,
          .errors_by = phase.counts.errors > 0 ? std::vector<double>(by.begin(), by.end())
                                               : std::vector<double>()};
}

}  // namespace

RunResult result_of(const SimulationResult& run) {
  const Counts& counts = run.summary.counts;
  const Recovery& recovery = run.summary.recovery;
  const RequestTimes requests = run.summary.latencies.requests();
  RunResult result{.verdict = recovery.verdict,
                   .errors_gone = recovery.errors_gone,
                   .time_to_recovery = recovery.time_to_recovery,
                   .to_watch = recovery.to_watch,
                   .queue_wait = recovery.queue_wait,
                   .cut = run.cut,
                   .amplification = counts.amplification(),
                   .success_share = counts.success_share(),
                   .ok_per_s = rates(counts, run.summary.elapsed).ok,
                   .gave_up = static_cast<double>(counts.gave_up()),
                   .not_sent = static_cast<double>(counts.not_sent),
                   .unfinished = run.summary.left_out_share(),
                   .doubtful = run.summary.doubtful_share(),
                   .request_p50 = requests.quantile(0.5),
                   .request_p99 = requests.quantile(0.99),
                   .ok_lost = recovery.ok_lost,
                   .peak_concurrency = run.peak_concurrency,
                   .peak_is_bound = run.peak_is_bound};
  if (counts.not_sent > 0) {
    result.not_sent_share =
        result.not_sent / static_cast<double>(counts.attempts + counts.not_sent);
  }
  if (counts.nothing_retried() > 0) {
    result.nothing_retried = static_cast<double>(counts.nothing_retried());
    result.not_retryable = run.summary.retry_metrics.not_retryable;
  }
  if (counts.requests > 0) {
    const std::size_t in_line = run.summary.kept ? run.summary.kept->in_line : 0;
    result.never_sent =
        static_cast<double>(counts.unsent() + in_line) / static_cast<double>(counts.requests);
  }
  if (const auto& job = run.summary.job) {
    result.makespan = job->makespan;
    result.calls = static_cast<double>(job->calls());
    result.calls_done = static_cast<double>(job->done);
    result.observed = run.summary.elapsed;
  }
  if (run.summary.job || run.summary.capacity) result.throttled_share = counts.throttled_share();
  if (run.summary.capacity) {
    result.idle_share = idle_share(run.summary.capacity->use);
    result.provided = run.summary.capacity->use.provided;
    const bool closed = run.summary.arrival_rate == 0 && !run.summary.job;
    if (closed) result.longest_without_ok = run.summary.longest_without_ok;
  }
  if (run.summary.processes > 0) {
    result.processes = static_cast<double>(run.summary.processes);
    result.process_rate = run.summary.process_rate();
  }
  if (counts.hedges > 0) {
    const auto hedges = static_cast<double>(counts.hedges);
    result.hedges = hedges / static_cast<double>(counts.requests);
    result.hedges_won = static_cast<double>(counts.hedges_won) / hedges;
  }
  if (const auto& reconnect = run.summary.reconnect) {
    result.back_share =
        static_cast<double>(reconnect->back) / static_cast<double>(reconnect->clients);
    result.all_back = reconnect->all_back;
  }
  if (const auto& graph = run.summary.graph) {
    if (graph->first) result.died_first = graph->nodes[*graph->first].name;
    result.last_calls = graph->nodes.back().amplification;
    for (const ClientsResult& each : graph->clients) {
      result.clients.push_back(
          {each.name, each.counts.success_share(), each.counts.amplification()});
    }
  }
  if (run.summary.phases) {
    for (std::size_t i = 0; i < result.phases.size(); ++i) {
      result.phases[i] = result_of((*run.summary.phases)[i]);
    }
  }
  return result;
}

namespace {

// The mean of the values that are not empty.
template <typename Result>
std::optional<double> mean_of(const std::vector<Result>& runs,
                              std::optional<double> Result::*value) {
  std::vector<double> values;
  for (const Result& run : runs) {
    if (run.*value) values.push_back(*(run.*value));
  }
  return values.empty() ? std::nullopt : std::optional(mean(values).value);
}

template <typename Result, typename Value>
std::vector<Value> values_of(const std::vector<Result>& results, Value Result::*value) {
  std::vector<Value> all;
  for (const Result& each : results) all.push_back(each.*value);
  return all;
}

PhaseResult summarize_phase(const std::vector<RunResult>& runs, std::size_t number) {
  std::vector<PhaseResult> phases;
  std::vector<double> errors_by;
  for (const RunResult& run : runs) {
    const PhaseResult& phase = run.phases[number];
    phases.push_back(phase);
    errors_by.resize(std::max(errors_by.size(), phase.errors_by.size()));
    for (std::size_t i = 0; i < phase.errors_by.size(); ++i) {
      errors_by[i] += phase.errors_by[i] / static_cast<double>(runs.size());
    }
  }
  return {.success = mean_of(phases, &PhaseResult::success),
          .gave_up = mean_of(phases, &PhaseResult::gave_up),
          .not_sent = mean_of(phases, &PhaseResult::not_sent),
          .attempts_per_s = mean_of(phases, &PhaseResult::attempts_per_s),
          .ok_per_s = mean_of(phases, &PhaseResult::ok_per_s),
          .timed_out = mean_of(phases, &PhaseResult::timed_out),
          .errors = mean_of(phases, &PhaseResult::errors),
          .requests_per_s = mean_of(phases, &PhaseResult::requests_per_s),
          .request_p50 = median_bound(values_of(phases, &PhaseResult::request_p50)),
          .request_p99 = median_bound(values_of(phases, &PhaseResult::request_p99)),
          .errors_by = errors_by};
}

}  // namespace

const ClientsFigures* find_clients(const std::vector<ClientsFigures>& clients,
                                   std::string_view name) {
  const auto found = std::find_if(clients.begin(), clients.end(),
                                  [name](const auto& each) { return each.name == name; });
  return found == clients.end() ? nullptr : &*found;
}

std::optional<Share> CellResult::down() const {
  auto result = share(down_runs(), decided(), misses);
  if (result && recovering > 0) {
    result->interval.high = wilson_interval(down_runs() + recovering, decided(), misses).high;
  }
  return result;
}

bool CellResult::unserved() const {
  const PhaseResult& calm = phases[0];
  return calm.ok_per_s && calm.requests_per_s &&
         *calm.ok_per_s < RecoveryTracker::kWell * *calm.requests_per_s;
}

bool CellResult::back_in_vain() const {
  return had_outage() && decided() > 0 && !mostly_not_back() &&
         phases[2].success.value_or(1) < RecoveryTracker::kWell;
}

std::string_view CellResult::unsettled() const {
  if (decided() > recovering || recovering + undecided == 0) return "";
  return to_string(recovering > 0 ? Verdict::kRecovering : Verdict::kUndecided);
}

std::string_view CellResult::not_back(double share) const {
  if (decided() == 0) return "-";
  const double may = (1 - share) * static_cast<double>(runs);
  return static_cast<double>(down_runs()) > may ? "never" : "not yet";
}

CellResult summarize(const std::vector<RunResult>& runs, double misses) {
  CellResult cell;
  cell.misses = misses;
  cell.runs = runs.size();
  cell.alike = runs.size() > 1 && std::all_of(runs.begin(), runs.end(), [&runs](const auto& each) {
                 return each == runs.front();
               });
  std::vector<std::optional<Duration>> errors_gone, recovery, without_ok;
  std::vector<double> nothing_retried;
  for (const RunResult& run : runs) {
    const auto when = [&run](std::initializer_list<Verdict> verdicts,
                             const std::optional<Duration>& time) {
      const bool counts =
          std::find(verdicts.begin(), verdicts.end(), run.verdict) != verdicts.end();
      return counts ? time : std::nullopt;
    };
    using C = CellResult;  // in the order of `Verdict`
    constexpr std::array kCounts{&C::no_outage, &C::undecided,  &C::recovered,
                                 &C::relapsed,  &C::recovering, &C::collapsed};
    ++(cell.*kCounts.at(static_cast<std::size_t>(run.verdict)));
    errors_gone.push_back(when({Verdict::kRecovered, Verdict::kRecovering}, run.errors_gone));
    recovery.push_back(when({Verdict::kRecovered}, run.time_to_recovery));
    cell.to_watch = std::max(cell.to_watch, run.to_watch);
    cell.cut += run.cut ? 1 : 0;
    cell.queued += run.queue_wait ? 1 : 0;
    cell.queue_wait = std::max(cell.queue_wait, run.queue_wait);
    cell.jobs += run.observed ? 1 : 0;
    cell.jobs_done += run.makespan ? 1 : 0;
    cell.observed = std::max(cell.observed, run.observed.value_or(Duration::zero()));
    if (run.nothing_retried > 0) nothing_retried.push_back(run.nothing_retried);
    cell.not_retryable |= run.not_retryable;
    if (run.longest_without_ok) without_ok.push_back(run.longest_without_ok);
    cell.peak_concurrency = std::max(cell.peak_concurrency, run.peak_concurrency);
    cell.peak_is_bound |= run.peak_is_bound;
  }
  std::map<std::string, std::size_t> deaths;
  for (const RunResult& run : runs) {
    if (!run.died_first.empty()) ++deaths[run.died_first];
  }
  for (const auto& [name, count] : deaths) {
    const double share = static_cast<double>(count) / static_cast<double>(runs.size());
    if (share > cell.died_first_share) cell.died_first = name, cell.died_first_share = share;
  }
  cell.errors_gone_median = censored_quantile(errors_gone, 0.5);
  cell.errors_gone_p90 = censored_quantile(errors_gone, 0.9);
  cell.recovery_median = censored_quantile(recovery, 0.5);
  cell.recovery_p90 = censored_quantile(recovery, 0.9);
  cell.recovery_interval = censored_median_interval(recovery, misses);
  cell.amplification = mean(values_of(runs, &RunResult::amplification), misses);
  cell.success_share = mean(values_of(runs, &RunResult::success_share), misses);
  const auto mean_of_all = [&runs](double RunResult::*value) {
    return mean(values_of(runs, value)).value;
  };
  cell.ok_per_s = mean_of_all(&RunResult::ok_per_s);
  cell.gave_up = mean_of_all(&RunResult::gave_up);
  cell.not_sent = mean_of_all(&RunResult::not_sent);
  cell.not_sent_share = mean_of_all(&RunResult::not_sent_share);
  cell.unfinished = mean_of_all(&RunResult::unfinished);
  cell.never_sent = mean_of_all(&RunResult::never_sent);
  cell.calls = mean_of_all(&RunResult::calls);
  cell.calls_done = mean_of_all(&RunResult::calls_done);
  cell.doubtful = mean_of_all(&RunResult::doubtful);
  if (cell.doubtful >= Counts::kManyLeftOut && cell.success_share.interval) {
    cell.success_share.interval->low *= 1 - cell.doubtful;
  }
  if (nothing_retried.size() == runs.size()) cell.nothing_retried = mean(nothing_retried).value;
  cell.request_p50 = median_bound(values_of(runs, &RunResult::request_p50));
  cell.request_p99 = median_bound(values_of(runs, &RunResult::request_p99));
  cell.ok_lost = mean_of_all(&RunResult::ok_lost);
  const auto makespan = values_of(runs, &RunResult::makespan);
  cell.makespan_median = censored_quantile(makespan, 0.5);
  cell.makespan_interval = censored_median_interval(makespan, misses);
  cell.back_share = mean_of(runs, &RunResult::back_share);
  const auto all_back = values_of(runs, &RunResult::all_back);
  cell.all_back_median = censored_quantile(all_back, 0.5);
  cell.all_back_p90 = censored_quantile(all_back, 0.9);
  cell.throttled_share = mean_of(runs, &RunResult::throttled_share);
  cell.idle_share = mean_of(runs, &RunResult::idle_share);
  cell.provided = mean_of(runs, &RunResult::provided);
  cell.longest_without_ok = censored_quantile(without_ok, 0.5);
  cell.processes = mean_of(runs, &RunResult::processes);
  cell.process_rate = mean_of(runs, &RunResult::process_rate);
  cell.hedges = mean_of(runs, &RunResult::hedges);
  cell.last_calls = mean_of(runs, &RunResult::last_calls);
  cell.hedges_won = mean_of(runs, &RunResult::hedges_won);
  // All runs of a cell have the same clients.
  if (!runs.empty()) cell.clients = runs.front().clients;
  for (std::size_t i = 0; i < cell.clients.size(); ++i) {
    const auto mean_of_clients = [&](double ClientsFigures::*value) {
      double sum = 0;
      for (const RunResult& run : runs) sum += run.clients[i].*value;
      return sum / static_cast<double>(runs.size());
    };
    cell.clients[i].success = mean_of_clients(&ClientsFigures::success);
    cell.clients[i].attempts = mean_of_clients(&ClientsFigures::attempts);
  }
  for (std::size_t i = 0; i < cell.phases.size(); ++i) cell.phases[i] = summarize_phase(runs, i);
  return cell;
}

}  // namespace retrystorm
