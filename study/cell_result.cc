#include "study/cell_result.h"

#include <algorithm>
#include <map>
#include <type_traits>

#include "common/output/json_text.h"
#include "common/output/report.h"
#include "model/base/text.h"

namespace retrystorm {

std::span<const FigureRow> figure_rows() {
  using F = RunResult;
  static constexpr FigureRow kRows[] = {
      {"verdict", &F::verdict, OfMany::kOther},
      {"errors_gone_ns", &F::errors_gone, OfMany::kOther},
      {"time_to_recovery_ns", &F::time_to_recovery, OfMany::kOther},
      {"to_watch_ns", &F::to_watch, OfMany::kMost},
      {"queue_wait_ns", &F::queue_wait, OfMany::kMost},
      {"cut", &F::cut},
      {"amplification", &F::amplification},
      {"success_share", &F::success_share},
      {"ok_per_s", &F::ok_per_s},
      {"gave_up", &F::gave_up},
      {"not_sent", &F::not_sent},
      {"not_sent_share", &F::not_sent_share},
      {"unfinished", &F::unfinished},
      {"doubtful", &F::doubtful},
      {"never_sent", &F::never_sent},
      {"nothing_retried", &F::nothing_retried},
      {"not_retryable", &F::not_retryable},
      {"request_p50_ns", &F::request_p50},
      {"request_p99_ns", &F::request_p99},
      {"ok_lost", &F::ok_lost},
      {"peak_concurrency", &F::peak_concurrency},
      {"peak_is_bound", &F::peak_is_bound},
      {"calls", &F::calls},
      {"calls_done", &F::calls_done},
      {"observed_ns", &F::observed, OfMany::kMost},
      {"makespan_ns", &F::makespan},
      {"throttled_share", &F::throttled_share},
      {"idle_share", &F::idle_share},
      {"provided", &F::provided},
      {"longest_without_ok_ns", &F::longest_without_ok},
      {"processes", &F::processes},
      {"process_rate", &F::process_rate},
      {"hit_share", &F::hit_share},
      {"killed", &F::killed},
      {"killed_busy", &F::killed_busy},
      {"hedges", &F::hedges},
      {"hedges_won", &F::hedges_won},
      {"back_share", &F::back_share},
      {"all_back_ns", &F::all_back},
      {"died_first", &F::died_first, OfMany::kOther},
      {"last_calls", &F::last_calls},
      {"clients", &F::clients, OfMany::kOther},
  };
  return kRows;
}

std::span<const PhaseRow> phase_rows() {
  using Phase = PhaseResult;
  static constexpr PhaseRow kRows[] = {
      {"success_", &Phase::success},
      {"gave_up_", &Phase::gave_up},
      {"not_sent_", &Phase::not_sent},
      {"attempts_per_s_", &Phase::attempts_per_s},
      {"ok_per_s_", &Phase::ok_per_s},
      {"timed_out_", &Phase::timed_out},
      {"errors_", &Phase::errors},
      {"requests_per_s_", &Phase::requests_per_s},
      {"request_p50_ns_", &Phase::request_p50},
      {"request_p99_ns_", &Phase::request_p99},
      {"errors_by_", &Phase::errors_by},
  };
  return kRows;
}

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
  if (const auto& hosts = run.summary.hosts; hosts && hosts->hit < hosts->hosts.size()) {
    result.hit_share = hosts->share_of_hit();
  }
  if (const auto& hosts = run.summary.hosts; hosts && hosts->probes_kill) {
    result.killed = static_cast<double>(hosts->sum(&HostInterval::killed));
    result.killed_busy = static_cast<double>(hosts->killed_busy);
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

template <typename Result, typename Value>
std::vector<Value> values_of(const std::vector<Result>& results, Value Result::*value) {
  std::vector<Value> all;
  for (const Result& each : results) all.push_back(each.*value);
  return all;
}

double of_many(const std::vector<double>& values, OfMany) {
  return mean(values).value;
}

// The mean of those that are there.
std::optional<double> of_many(const std::vector<std::optional<double>>& values, OfMany) {
  std::vector<double> some;
  for (const auto& each : values) {
    if (each) some.push_back(*each);
  }
  return some.empty() ? std::nullopt : std::optional(mean(some).value);
}

std::optional<Duration> of_many(const std::vector<std::optional<Duration>>& values, OfMany how) {
  if (how == OfMany::kMost) return *std::max_element(values.begin(), values.end());
  return censored_quantile(values, 0.5);
}

std::optional<TimeBound> of_many(const std::vector<std::optional<TimeBound>>& values, OfMany) {
  return median_bound(values);
}

template <typename Value>
Value of_many(const std::vector<Value>& values, OfMany) {
  if constexpr (std::is_same_v<Value, RetryOn>) {
    RetryOn all{};
    for (const RetryOn& each : values) all |= each;
    return all;
  } else {
    return *std::max_element(values.begin(), values.end());
  }
}

// In each place, the mean of those that are there. `values`: not empty.
std::vector<double> of_many(const std::vector<std::vector<double>>& values, OfMany) {
  std::vector<double> means;
  for (const std::vector<double>& each : values) {
    means.resize(std::max(means.size(), each.size()));
    for (std::size_t i = 0; i < each.size(); ++i) {
      means[i] += each[i] / static_cast<double>(values.size());
    }
  }
  return means;
}

// Of clients with the same names.
std::vector<ClientsFigures> of_many(const std::vector<std::vector<ClientsFigures>>& values,
                                    OfMany) {
  std::vector<ClientsFigures> means = values.front();
  for (std::size_t i = 0; i < means.size(); ++i) {
    const auto mean_of = [&](double ClientsFigures::*value) {
      double sum = 0;
      for (const auto& each : values) sum += each[i].*value;
      return sum / static_cast<double>(values.size());
    };
    means[i].success = mean_of(&ClientsFigures::success);
    means[i].attempts = mean_of(&ClientsFigures::attempts);
  }
  return means;
}

// Those that count only in runs with some verdicts, or of whose runs the most frequent is taken.
void summarize_others(const std::vector<RunResult>& runs, CellResult& cell) {
  std::vector<std::optional<Duration>> errors_gone, recovery;
  std::map<std::string, std::size_t> deaths;
  for (const RunResult& run : runs) {
    const bool back = run.verdict == Verdict::kRecovered;
    const bool counts = back || run.verdict == Verdict::kRecovering;
    errors_gone.push_back(counts ? run.errors_gone : std::nullopt);
    recovery.push_back(back ? run.time_to_recovery : std::nullopt);
    if (!run.died_first.empty()) ++deaths[run.died_first];
  }
  for (const auto& [name, count] : deaths) {
    const double share = static_cast<double>(count) / static_cast<double>(runs.size());
    if (share > cell.died_first_share) cell.died_first = name, cell.died_first_share = share;
  }
  cell.errors_gone = censored_quantile(errors_gone, 0.5);
  cell.errors_gone_p90 = censored_quantile(errors_gone, 0.9);
  cell.time_to_recovery = censored_quantile(recovery, 0.5);
  cell.recovery_p90 = censored_quantile(recovery, 0.9);
  cell.recovery_interval = censored_median_interval(recovery, cell.misses);
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
  if (runs.empty()) return cell;
  cell.alike = runs.size() > 1 && std::all_of(runs.begin(), runs.end(), [&runs](const auto& each) {
                 return each == runs.front();
               });
  for (const FigureRow& row : figure_rows()) {
    if (row.of_many == OfMany::kOther) continue;
    std::visit([&](auto member) { cell.*member = of_many(values_of(runs, member), row.of_many); },
               row.member);
  }
  cell.clients = of_many(values_of(runs, &RunResult::clients), OfMany::kTypical);
  for (std::size_t i = 0; i < cell.phases.size(); ++i) {
    std::vector<PhaseResult> phases;
    for (const RunResult& each : runs) phases.push_back(each.phases[i]);
    for (const PhaseRow& row : phase_rows()) {
      std::visit(
          [&](auto member) {
            cell.phases[i].*member = of_many(values_of(phases, member), OfMany::kTypical);
          },
          row.member);
    }
  }
  for (const RunResult& run : runs) {
    // In the order of `Verdict`.
    constexpr std::array kCounts{&CellResult::no_outage,  &CellResult::undecided,
                                 &CellResult::recovered,  &CellResult::relapsed,
                                 &CellResult::recovering, &CellResult::collapsed};
    ++(cell.*kCounts.at(static_cast<std::size_t>(run.verdict)));
    cell.cut_runs += run.cut ? 1 : 0;
    cell.queued += run.queue_wait ? 1 : 0;
    cell.jobs += run.observed ? 1 : 0;
    cell.jobs_done += run.makespan ? 1 : 0;
    if (run.nothing_retried == 0) cell.nothing_retried = 0;
  }
  summarize_others(runs, cell);
  const auto interval_of = [&](double RunResult::*figure) {
    return mean(values_of(runs, figure), misses).interval;
  };
  cell.amplification_interval = interval_of(&RunResult::amplification);
  cell.success_interval = interval_of(&RunResult::success_share);
  if (cell.doubtful >= Counts::kManyLeftOut && cell.success_interval) {
    cell.success_interval->low *= 1 - cell.doubtful;
  }
  cell.makespan_interval = censored_median_interval(values_of(runs, &RunResult::makespan), misses);
  cell.all_back_p90 = censored_quantile(values_of(runs, &RunResult::all_back), 0.9);
  return cell;
}

namespace {

// How a figure is written: a time in its name's unit, an empty one as null.
enum class Form { kNumber, kShare, kLow, kHigh };  // the last two are the ends of an interval

Json json_of(std::size_t count, Form) {
  return count;
}
Json json_of(double number, Form form) {
  return form == Form::kShare ? share_json(number) : Json(rounded(number));
}
Json json_of(Duration time, Form) {
  return seconds_json(time);
}
Json json_of(const TimeBound& time, Form form) {
  return form == Form::kHigh ? high_end_json(time) : low_end_json(time);
}
Json json_of(const TimeInterval& interval, Form form) {
  return seconds_json(form == Form::kLow ? interval.low : interval.high);
}
Json json_of(const Interval& interval, Form form) {
  return share_json(form == Form::kLow ? interval.low : interval.high);
}
template <typename Value>
Json json_of(const std::optional<Value>& value, Form form) {
  return value ? json_of(*value, form) : Json(nullptr);
}

// A figure that cells, or their phases, have.
template <typename Of>
struct Column {
  const char* name;
  Json (*value)(const Of&);
  const char* unit = "";                   // behind the name of a phase
  bool MoreColumns::*only_with = nullptr;  // null: always there
};

template <auto kFigure, Form kForm = Form::kNumber, typename Of = CellResult>
Column<Of> of(const char* name, const char* unit = "", bool MoreColumns::*only_with = nullptr) {
  return {name, [](const Of& of) { return json_of(of.*kFigure, kForm); }, unit, only_with};
}

using C = CellResult;

template <double Interval::*kEnd>
Json down_end(const C& c) {
  const auto down = c.down();
  return down ? share_json(down->interval.*kEnd) : Json(nullptr);
}

const Column<C> kColumns[] = {
    of<&C::runs>("runs"),
    of<&C::recovered>("recovered"),
    of<&C::relapsed>("relapsed"),
    of<&C::recovering>("recovering"),
    of<&C::undecided>("undecided"),
    of<&C::collapsed>("collapsed"),
    {"down",
     [](const C& c) {
       const auto down = c.down();
       return down ? share_json(down->value) : Json(nullptr);
     }},
    {"down_low", down_end<&Interval::low>},
    {"down_high", down_end<&Interval::high>},
    of<&C::errors_gone>("errors_gone_median_s"),
    of<&C::errors_gone_p90>("errors_gone_p90_s"),
    of<&C::time_to_recovery>("recovery_median_s"),
    of<&C::recovery_p90>("recovery_p90_s"),
    of<&C::amplification>("amplification"),
    of<&C::ok_lost>("ok_lost"),
    of<&C::peak_concurrency>("peak_concurrency"),
    of<&C::success_share, Form::kShare>("success_share"),
    of<&C::success_interval, Form::kLow>("success_share_low"),
    of<&C::success_interval, Form::kHigh>("success_share_high"),
    of<&C::amplification_interval, Form::kLow>("amplification_low"),
    of<&C::amplification_interval, Form::kHigh>("amplification_high"),
    of<&C::gave_up>("gave_up"),
    of<&C::not_sent>("not_sent"),
    of<&C::not_sent_share, Form::kShare>("not_sent_share"),
    of<&C::request_p50>("request_p50_ms"),
    of<&C::request_p99>("request_p99_ms"),
    of<&C::request_p50, Form::kHigh>("request_p50_ms_high"),
    of<&C::request_p99, Form::kHigh>("request_p99_ms_high"),
    of<&C::recovery_interval, Form::kLow>("recovery_low_s"),
    of<&C::recovery_interval, Form::kHigh>("recovery_high_s"),
    of<&C::makespan>("makespan_median_s"),
    of<&C::makespan_interval, Form::kLow>("makespan_low_s"),
    of<&C::makespan_interval, Form::kHigh>("makespan_high_s"),
    of<&C::throttled_share, Form::kShare>("throttled_share"),
    of<&C::idle_share, Form::kShare>("idle_share"),
    of<&C::provided>("provided_unit_s"),
    of<&C::ok_per_s>("ok_per_s"),
    of<&C::longest_without_ok>("longest_without_ok_s"),
};

// Behind those of the phases.
const Column<C> kMoreColumns[] = {
    of<&C::back_share, Form::kShare>("back_share", "", &MoreColumns::reconnects),
    of<&C::all_back>("all_back_median_s", "", &MoreColumns::reconnects),
    of<&C::all_back_p90>("all_back_p90_s", "", &MoreColumns::reconnects),
    of<&C::processes>("processes", "", &MoreColumns::processes),
    of<&C::process_rate>("process_requests_per_s", "", &MoreColumns::processes),
    of<&C::hit_share, Form::kShare>("outage_hosts_share", "", &MoreColumns::hosts),
    of<&C::killed>("probe_kills", "", &MoreColumns::probes_kill),
    of<&C::killed_busy>("probe_kills_busy", "", &MoreColumns::probes_kill),
    of<&C::hedges>("hedges_per_request", "", &MoreColumns::hedges),
    of<&C::hedges_won, Form::kShare>("hedges_won_share", "", &MoreColumns::hedges),
    of<&C::last_calls>("last_service_calls", "", &MoreColumns::graph),
    {"died_first", [](const C& c) { return c.died_first.empty() ? Json() : Json(c.died_first); },
     "", &MoreColumns::graph},
    {"died_first_share",
     [](const C& c) { return c.died_first.empty() ? Json() : share_json(c.died_first_share); }, "",
     &MoreColumns::graph},
};

using P = PhaseResult;

template <auto kFigure, Form kForm = Form::kNumber>
Column<P> in_phase(const char* name, const char* unit = "") {
  return of<kFigure, kForm, P>(name, unit);
}

// The name of the phase comes in the middle of the name.
const Column<P> kPhaseColumns[] = {
    in_phase<&P::success, Form::kShare>("success_"),
    in_phase<&P::gave_up>("gave_up_"),
    in_phase<&P::not_sent>("not_sent_"),
    in_phase<&P::attempts_per_s>("attempts_per_s_"),
    in_phase<&P::ok_per_s>("ok_per_s_"),
    in_phase<&P::timed_out>("timed_out_"),
    in_phase<&P::errors>("errors_"),
    in_phase<&P::request_p50>("request_p50_", "_ms"),
    in_phase<&P::request_p99>("request_p99_", "_ms"),
    in_phase<&P::request_p50, Form::kHigh>("request_p50_", "_ms_high"),
    in_phase<&P::request_p99, Form::kHigh>("request_p99_", "_ms_high"),
};

Json errors_by_json(const P& phase) {
  if (!phase.errors) return nullptr;
  Json by = Json::object();
  for (std::size_t i = 0; i < phase.errors_by.size(); ++i) {
    if (phase.errors_by[i] > 0) by[std::string(kErrorKinds[i])] = rounded(phase.errors_by[i]);
  }
  return by;
}

const Column<P> kErrorsByColumn[] = {{"errors_by_", errors_by_json}};

// Of the clients with this name. Null in a cell without them.
void add_clients(std::vector<CellColumn>& columns, const std::string& name) {
  const auto add = [&](const char* end, double ClientsFigures::*figure, Form form) {
    columns.push_back({"clients_" + underscored(name) + end, [name, figure, form](const C& c) {
                         const ClientsFigures* clients = find_clients(c.clients, name);
                         return clients != nullptr ? json_of(clients->*figure, form) : Json();
                       }});
  };
  add("_success_share", &ClientsFigures::success, Form::kShare);
  add("_amplification", &ClientsFigures::attempts, Form::kNumber);
}

}  // namespace

std::vector<CellColumn> cell_columns(const MoreColumns& more) {
  std::vector<CellColumn> columns;
  const auto add = [&](const auto& some) {
    for (const Column<C>& each : some) {
      if (each.only_with == nullptr || more.*each.only_with) {
        columns.push_back({each.name, each.value});
      }
    }
  };
  const auto add_in_phases = [&columns](const auto& some) {
    for (std::size_t phase = 0; phase < kPhaseNames.size(); ++phase) {
      for (const Column<P>& each : some) {
        columns.push_back(
            {each.name + std::string(kPhaseNames[phase]) + each.unit,
             [value = each.value, phase](const C& c) { return value(c.phases[phase]); }});
      }
    }
  };
  add(kColumns);
  add_in_phases(kPhaseColumns);
  if (more.errors_by) add_in_phases(kErrorsByColumn);
  add(kMoreColumns);
  for (const std::string& name : more.clients) add_clients(columns, name);
  return columns;
}

std::vector<std::string> cell_names(std::vector<std::string> labels, const MoreColumns& more) {
  for (const CellColumn& column : cell_columns(more)) labels.emplace_back(column.name);
  return labels;
}

CellValues cell_values(const std::vector<std::string>& labels, const CellResult& cell,
                       const MoreColumns& more) {
  std::vector<Json> values(labels.begin(), labels.end());
  for (const CellColumn& column : cell_columns(more)) values.push_back(column.value(cell));
  return values;
}

}  // namespace retrystorm
