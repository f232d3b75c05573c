#include <optional>
#include <string>

#include "explorer/engine/engine.h"
#include "model/base/text.h"
#include "study/cell_result.h"
#include "study/statistics.h"

namespace retrystorm {
namespace {

Json to_json(Verdict verdict) {
  return to_string(verdict);
}
Json to_json(Duration time) {
  return time.count();
}
Json to_json(const TimeBound& time) {
  return {time.time.count(), time.or_more};
}
Json to_json(const RetryOn& failures) {
  return to_string(failures);
}
Json to_json(const std::vector<ClientsFigures>& clients) {
  Json json = Json::array();
  for (const auto& each : clients) json.push_back({each.name, each.success, each.attempts});
  return json;
}
template <typename Value>
Json to_json(const Value& value) {
  return value;
}
template <typename Value>
Json to_json(const std::optional<Value>& value) {
  return value ? to_json(*value) : Json(nullptr);
}

void read(const Json& json, Verdict& verdict) {
  const auto name = json.get<std::string>();
  for (const Verdict each : kVerdicts) {
    if (to_string(each) != name) continue;
    verdict = each;
    return;
  }
  refuse(in_quotes(name) + " is no verdict");
}
void read(const Json& json, Duration& time) {
  time = Duration(json.get<Duration::rep>());
}
void read(const Json& json, TimeBound& time) {
  read(json.at(0), time.time);
  time.or_more = json.at(1).get<bool>();
}
void read(const Json& json, RetryOn& failures) {
  failures = parse_retry_on(json.get<std::string>());
}
void read(const Json& json, std::vector<ClientsFigures>& clients) {
  for (const Json& each : json) {
    clients.push_back(
        {each.at(0).get<std::string>(), each.at(1).get<double>(), each.at(2).get<double>()});
  }
}
template <typename Value>
void read(const Json& json, Value& value) {
  value = json.get<Value>();
}
template <typename Value>
void read(const Json& json, std::optional<Value>& value) {
  if (!json.is_null()) read(json, value.emplace());
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
  each_figure(result,
              [&json](const std::string& name, const auto& value) { json[name] = to_json(value); });
  return json;
}

RunResult read_result(const Json& json) {
  RunResult result;
  each_figure(result,
              [&json](const std::string& name, auto& value) { read(json.at(name), value); });
  return result;
}

Json cell_json(const CellResult& cell) {
  Json json = Json::object();
  for (const CellColumn& column : cell_columns({.reconnects = cell.back_share.has_value(),
                                  .processes = cell.processes.has_value(),
                                  .hosts = cell.hit_share.has_value(),
                                  .probes_kill = cell.killed.has_value(),
                                  .hedges = cell.hedges.has_value(),
                                  .graph = !cell.died_first.empty()})) {
    json[column.name] = column.value(cell);
  }
  if (!cell.clients.empty()) json["clients"] = to_json(cell.clients);
  return json;
}

Json difference_json(const std::vector<RunResult>& ours, const std::vector<RunResult>& theirs) {
  if (ours.size() != theirs.size() || ours.empty()) {
    refuse("results that are compared are as many, of the same seeds");
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
