#include "explorer/engine/results.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "model/base/text.h"
#include "study/cell_columns.h"
#include "study/statistics.h"

namespace retrystorm {
namespace {

using Json = nlohmann::ordered_json;

// Calls `visit` with each field of a result.
template <typename Result, typename Visit>
void each_field(Result& result, const Visit& visit) {
  visit("verdict", result.verdict);
  visit("errors_gone_ns", result.errors_gone);
  visit("time_to_recovery_ns", result.time_to_recovery);
  visit("to_watch_ns", result.to_watch);
  visit("queue_wait_ns", result.queue_wait);
  visit("amplification", result.amplification);
  visit("success_share", result.success_share);
  visit("ok_per_s", result.ok_per_s);
  visit("gave_up", result.gave_up);
  visit("not_sent", result.not_sent);
  visit("not_sent_share", result.not_sent_share);
  visit("unfinished", result.unfinished);
  visit("request_p50_ns", result.request_p50);
  visit("request_p99_ns", result.request_p99);
  visit("ok_lost", result.ok_lost);
  visit("peak_concurrency", result.peak_concurrency);
  visit("makespan_ns", result.makespan);
  visit("throttled_share", result.throttled_share);
  visit("idle_share", result.idle_share);
  visit("provided", result.provided);
  visit("longest_without_ok_ns", result.longest_without_ok);
  visit("processes", result.processes);
  visit("process_rate", result.process_rate);
  visit("hedges", result.hedges);
  visit("hedges_won", result.hedges_won);
  visit("died_first", result.died_first);
  visit("last_calls", result.last_calls);
  visit("clients", result.clients);
  visit("back_share", result.back_share);
  visit("all_back_ns", result.all_back);
  for (std::size_t i = 0; i < kPhaseNames.size(); ++i) {
    auto& phase = result.phases[i];
    const auto visit_phase = [&](const char* name, auto& value) {
      visit((name + std::string(kPhaseNames[i])).c_str(), value);
    };
    visit_phase("success_", phase.success);
    visit_phase("gave_up_", phase.gave_up);
    visit_phase("not_sent_", phase.not_sent);
    visit_phase("attempts_per_s_", phase.attempts_per_s);
    visit_phase("ok_per_s_", phase.ok_per_s);
    visit_phase("timed_out_", phase.timed_out);
    visit_phase("errors_", phase.errors);
    visit_phase("request_p50_ns_", phase.request_p50);
    visit_phase("request_p99_ns_", phase.request_p99);
  }
}

Json to_json(Verdict verdict) {
  return to_string(verdict);
}
Json to_json(const std::optional<Duration>& time) {
  return time ? Json(time->count()) : Json(nullptr);
}
Json to_json(const std::optional<TimeBound>& time) {
  return time ? Json{time->time.count(), time->or_more} : Json(nullptr);
}
Json to_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json to_json(const std::string& text) {
  return text;
}
Json to_json(const std::vector<ClientsFigures>& clients) {
  Json json = Json::array();
  for (const auto& each : clients) json.push_back({each.name, each.success, each.attempts});
  return json;
}
Json to_json(double value) {
  return value;
}
Json to_json(std::size_t value) {
  return value;
}

void read(const Json& json, Verdict& verdict) {
  const auto name = json.get<std::string>();
  for (const Verdict each : {Verdict::kNoOutage, Verdict::kUndecided, Verdict::kRecovered,
                             Verdict::kRelapsed, Verdict::kRecovering, Verdict::kCollapsed}) {
    if (to_string(each) != name) continue;
    verdict = each;
    return;
  }
  throw std::invalid_argument(in_quotes(name) + " is no verdict");
}
void read(const Json& json, std::optional<Duration>& time) {
  time = json.is_null() ? std::nullopt : std::optional(Duration(json.get<Duration::rep>()));
}
void read(const Json& json, std::optional<TimeBound>& time) {
  time = json.is_null() ? std::nullopt
                        : std::optional(TimeBound{.time = Duration(json.at(0).get<Duration::rep>()),
                                                  .or_more = json.at(1).get<bool>()});
}
void read(const Json& json, std::optional<double>& value) {
  value = json.is_null() ? std::nullopt : std::optional(json.get<double>());
}
void read(const Json& json, std::vector<ClientsFigures>& clients) {
  for (const Json& each : json) {
    clients.push_back(
        {each.at(0).get<std::string>(), each.at(1).get<double>(), each.at(2).get<double>()});
  }
}
template <typename Number>
void read(const Json& json, Number& value) {
  value = json.get<Number>();
}

Json difference(double value, const std::optional<Interval>& interval) {
  return {{"value", value},
          {"low", interval ? Json(interval->low) : Json(nullptr)},
          {"high", interval ? Json(interval->high) : Json(nullptr)}};
}

// The mean difference over the seeds for which `of` returns a value for both runs.
template <typename Of>
Json mean_difference(const std::vector<RunResult>& ours, const std::vector<RunResult>& theirs,
                     const Of& of) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const std::optional<double> our = of(ours[i]), their = of(theirs[i]);
    if (our && their) differences.push_back(*our - *their);
  }
  if (differences.empty()) return nullptr;
  const Mean all = mean(differences);
  Json json = difference(all.value, all.interval);
  json["pairs"] = differences.size();
  return json;
}

// The difference of the shares of runs that were down at the end.
Json down_difference(const CellResult& ours, const CellResult& theirs) {
  const auto our = ours.down(), their = theirs.down();
  if (!our || !their) return nullptr;
  return difference(
      our->value - their->value,
      newcombe_interval(ours.down_runs(), ours.decided(), theirs.down_runs(), theirs.decided()));
}

std::optional<double> seconds(const std::optional<Duration>& time) {
  return time ? std::optional(to_seconds(*time)) : std::nullopt;
}

}  // namespace

Json result_json(const RunResult& result) {
  Json json = Json::object();
  each_field(result, [&json](const char* name, const auto& value) { json[name] = to_json(value); });
  return json;
}

RunResult read_result(const Json& json) {
  RunResult result;
  each_field(result, [&json](const char* name, auto& value) { read(json.at(name), value); });
  return result;
}

Json cell_json(const CellResult& cell) {
  Json json = Json::object();
  for (const CellColumn& column : cell_columns({.reconnects = cell.back_share.has_value(),
                                  .processes = cell.processes.has_value(),
                                  .hedges = cell.hedges.has_value(),
                                  .graph = !cell.died_first.empty()})) {
    json[column.name] = column.value(cell);
  }
  if (!cell.clients.empty()) json["clients"] = to_json(cell.clients);
  return json;
}

Json difference_json(const std::vector<RunResult>& ours, const std::vector<RunResult>& theirs) {
  if (ours.size() != theirs.size() || ours.empty()) {
    throw std::invalid_argument("results that are compared are as many, of the same seeds");
  }
  using R = RunResult;
  using Value = std::optional<double>;
  return {
      {"down", down_difference(summarize(ours), summarize(theirs))},
      {"recovery_s", mean_difference(ours, theirs,
                                     [](const R& run) {
                                       return run.verdict == Verdict::kRecovered
                                                  ? seconds(run.time_to_recovery)
                                                  : std::nullopt;
                                     })},
      {"success_share",
       mean_difference(ours, theirs, [](const R& run) { return Value(run.success_share); })},
      {"amplification",
       mean_difference(ours, theirs, [](const R& run) { return Value(run.amplification); })},
      {"ok_lost", mean_difference(ours, theirs, [](const R& run) { return Value(run.ok_lost); })},
      {"makespan_s",
       mean_difference(ours, theirs, [](const R& run) { return seconds(run.makespan); })},
  };
}

}  // namespace retrystorm
