#include "explorer/engine/results.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "model/base/text.h"
#include "simulator/cell_columns.h"
#include "simulator/statistics.h"

namespace retrystorm {
namespace {

using Json = nlohmann::ordered_json;

// All that a result consists of.
template <typename Result, typename Visit>
void each_field(Result& result, const Visit& visit) {
  visit("verdict", result.verdict);
  visit("errors_gone_ns", result.errors_gone);
  visit("time_to_recovery_ns", result.time_to_recovery);
  visit("amplification", result.amplification);
  visit("success_share", result.success_share);
  visit("gave_up", result.gave_up);
  visit("not_sent", result.not_sent);
  visit("request_p50_ns", result.request_p50);
  visit("request_p99_ns", result.request_p99);
  visit("ok_lost", result.ok_lost);
  visit("peak_concurrency", result.peak_concurrency);
  visit("makespan_ns", result.makespan);
  visit("throttled_share", result.throttled_share);
  visit("idle_share", result.idle_share);
  visit("provided", result.provided);
}

Json to_json(Verdict verdict) {
  return to_string(verdict);
}
Json to_json(const std::optional<Duration>& time) {
  return time ? Json(time->count()) : Json(nullptr);
}
Json to_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
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
void read(const Json& json, std::optional<double>& value) {
  value = json.is_null() ? std::nullopt : std::optional(json.get<double>());
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

// The mean of what `of` gives for both runs of a seed; of those seeds for which it gives something.
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
  for (const CellColumn& column : cell_columns()) json[column.name] = column.value(cell);
  return json;
}

Json difference_json(const std::vector<RunResult>& ours, const std::vector<RunResult>& theirs) {
  if (ours.size() != theirs.size() || ours.empty()) {
    throw std::invalid_argument("results that are compared are as many, of the same seeds");
  }
  const auto collapsed = [](const std::vector<RunResult>& runs) {
    std::size_t count = 0;
    for (const RunResult& run : runs) count += run.verdict == Verdict::kCollapsed ? 1 : 0;
    return count;
  };
  const auto n = ours.size();
  const auto our = collapsed(ours), their = collapsed(theirs);
  const auto share = [n](std::size_t count) {
    return static_cast<double>(count) / static_cast<double>(n);
  };
  using R = RunResult;
  using Value = std::optional<double>;
  return {
      {"collapsed", difference(share(our) - share(their), newcombe_interval(our, n, their, n))},
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
