#include "common/output/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <ctime>

#include "common/output/json_text.h"
#include "model/run/disturbance.h"
#include "words/words.h"

namespace retrystorm {
namespace {

[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...) {
  std::va_list arguments;
  va_start(arguments, pattern);
  std::array<char, 512> text{};
  const int length = std::vsnprintf(text.data(), text.size(), pattern, arguments);
  va_end(arguments);
  return {text.data(), std::min(static_cast<std::size_t>(length), text.size() - 1)};
}

// A time and its upper end, which is null if the time may be more.
void add_bound(Json& json, const std::string& name, const std::optional<TimeBound>& time) {
  json[name] = low_end_json(time);
  json[name + "_high"] = high_end_json(time);
}

// Seconds, rounded to microseconds: a trace needs finer times than statistics of many requests.
Json fine_seconds_json(std::optional<Duration> time) {
  return time ? Json(std::round(to_seconds(*time) * 1e6) / 1e6) : nullptr;
}

Json fate_json(AttemptFate fate) {
  constexpr std::array kNames{"ok", "error", "timed_out", "not_sent", "superseded"};
  if (fate == AttemptFate::kUnderWay) return nullptr;
  return kNames.at(static_cast<std::size_t>(fate) - 1);
}

Json reason_json(std::optional<GiveUp> reason) {
  return reason ? Json(kGiveUpNames[static_cast<std::size_t>(*reason)]) : nullptr;
}

// An object with `value` of each reason to give up, by the reason's name.
template <typename Value>
Json by_reason(const Value& value) {
  auto json = Json::object();
  for (std::size_t i = 0; i < kGiveUpNames.size(); ++i)
    json[std::string(kGiveUpNames[i])] = value(i);
  return json;
}

}  // namespace

std::string callers_text(std::size_t clients, double arrival_rate, const std::string& plan) {
  if (!plan.empty()) return "arrivals=" + plan;
  return arrival_rate > 0 ? format("%g requests a second", arrival_rate)
                          : std::to_string(clients) + " clients";
}

Json attempt_json(const TracedRequest& request, std::size_t index) {
  const TracedAttempt& attempt = request.attempts[index];
  Json json{{"type", "attempt"},
            {"t", fine_seconds_json(attempt.t)},
            {"request", request.number},
            {"attempt", index + 1},
            {"client", request.client},
            {"outcome", fate_json(attempt.fate)},
            {"status", attempt.status > 0 ? Json(attempt.status) : Json()},
            {"reason", reason_json(attempt.why)},
            {"latency_s", fine_seconds_json(attempt.latency)}};
  if (attempt.pool) json["pool_s"] = fine_seconds_json(attempt.pool);
  json["connect_s"] = fine_seconds_json(attempt.connect);
  json["queue_s"] = fine_seconds_json(attempt.queue);
  json["service_s"] = fine_seconds_json(attempt.service);
  json["late_s"] = fine_seconds_json(attempt.late);
  json["wait_s"] = fine_seconds_json(attempt.wait);
  return json;
}

Json request_json(const TracedRequest& request) {
  const std::size_t sent = request.sent();
  const char* const outcome = request.gave_up ? "gave_up" : "ok";
  return {{"type", "request"},
          {"t", fine_seconds_json(request.t)},
          {"request", request.number},
          {"client", request.client},
          {"outcome", request.time ? Json(outcome) : Json()},
          {"reason", reason_json(request.gave_up)},
          {"time_s", fine_seconds_json(request.time)},
          {"attempts", sent},
          {"not_sent", request.attempts.size() - sent}};
}

Json seconds_json(std::optional<Duration> time) {
  return time ? Json(rounded(to_seconds(*time))) : nullptr;
}

Json milliseconds_json(std::optional<Duration> time) {
  return time ? Json(rounded(to_seconds(*time) * 1e3)) : nullptr;
}

Json low_end_json(const std::optional<TimeBound>& time) {
  return milliseconds_json(time ? std::optional(time->time) : std::nullopt);
}

Json high_end_json(const std::optional<TimeBound>& time) {
  return time && time->or_more ? nullptr : low_end_json(time);
}

std::string client_line(const Rates& rates) {
  return format("OK: %.2f req/sec, errors: %.2f req/sec, timedout: %.2f req/sec", rates.ok,
                rates.errors, rates.timed_out);
}

Json outlook_json(const Outlook& outlook) {
  struct AsJson {
    bool milliseconds;
    Json operator()(double value) const {
      return std::isfinite(value) ? Json(rounded(value)) : Json(nullptr);
    }
    Json operator()(std::size_t count) const { return count; }
    Json operator()(bool is) const { return is; }
    Json operator()(Duration time) const {
      return milliseconds ? milliseconds_json(time) : seconds_json(time);
    }
    Json operator()(const std::vector<Duration>& times) const {
      Json all = Json::array();
      for (const Duration each : times) all.push_back(seconds_json(each));
      return all;
    }
  };
  Json json;
  for (const OutlookFigure& each : outlook_figures(outlook)) {
    if (each.shown == OutlookFigure::Shown::kExplained) continue;
    const auto dot = each.id.find('.');
    const std::string key(each.id.substr(0, dot));
    const Json value = std::visit(AsJson{dot != each.id.npos}, each.value);
    if (dot == each.id.npos) {
      json[key] = value;
    } else {
      json[key][std::string(each.id.substr(dot + 1))] = value;
    }
  }
  json["warnings"] = Json::array();
  for (const Statement& each : outlook.warnings) {
    Json warning = statement_json(each);
    warning["text"] = words_of(each);
    json["warnings"].push_back(std::move(warning));
  }
  return json;
}

Json share_json(double share) {
  return std::round(share * 1e5) / 1e5;
}

Json gave_up_json(const GiveUpCounts& counts) {
  return by_reason([&counts](std::size_t reason) { return counts[reason]; });
}

Json connections_json(const KeptConnections& kept) {
  Json json{{"open", kept.open},
            {"idle", kept.idle},
            {"in_line", kept.in_line},
            {"opened", kept.opened},
            {"given_up", kept.given_up},
            {"waited", kept.waited},
            {"sent_again", kept.sent_again}};
  if (kept.kernel) {
    json["accept_queue"] = kept.kernel->accept_queue;
    json["unread"] = kept.kernel->unread;
    json["no_room"] = kept.kernel->no_room;
  }
  return json;
}

Json client_interval_json(const RunInterval& interval) {
  const Rates& rates = interval.rates;
  const ClientStates& clients = interval.clients;
  const auto gave_up_by =
      by_reason([&rates](std::size_t reason) { return rounded(rates.gave_up_by[reason]); });
  auto errors_by = Json::object();
  for (std::size_t i = 0; i < kErrorKinds.size(); ++i) {
    if (rates.errors_by[i] > 0)
      errors_by[std::string(kErrorKinds[i])] = rounded(rates.errors_by[i]);
  }
  Json json{{"type", "interval"},
            {"t", rounded(to_seconds(interval.t))},
            {"ok", rounded(rates.ok)},
            {"errors", rounded(rates.errors)},
            {"errors_by", errors_by},
            {"timed_out", rounded(rates.timed_out)},
            {"attempts", rounded(rates.attempts)},
            {"retries", rounded(rates.retries)},
            {"requests", rounded(rates.requests)},
            {"gave_up", rounded(rates.gave_up())},
            {"gave_up_by", gave_up_by},
            {"not_sent", rounded(rates.not_sent)},
            {"latency_ms", latency_json(interval.latency)},
            {"thinking", clients.thinking},
            {"in_flight", clients.in_flight},
            {"waiting_to_retry", clients.waiting_to_retry}};
  if (interval.totals.hedges > 0) {
    json["hedges"] = rounded(rates.hedges);
    json["hedges_won"] = rounded(rates.hedges_won);
  }
  if (clients.mean_pause) {
    json["workers"] = clients.thinking + clients.in_flight + clients.waiting_to_retry;
    json["mean_pause_s"] = seconds_json(clients.mean_pause);
    json["throttled"] = rounded(rates.throttled);
  }
  if (clients.disconnected) json["disconnected"] = *clients.disconnected;
  if (clients.kept) json["connections"] = connections_json(*clients.kept);
  return json;
}

Json errors_json(const Counts& counts) {
  auto json = Json::object();
  for (std::size_t i = 0; i < kErrorKinds.size(); ++i) {
    if (counts.errors_by[i] > 0) json[std::string(kErrorKinds[i])] = counts.errors_by[i];
  }
  return json;
}

Json outage_json(Duration t, OutageEvent event, const std::string& what) {
  return {{"type", "outage"},
          {"t", rounded(to_seconds(t))},
          {"event", event == OutageEvent::kBegin ? "stop" : "continue"},
          {"what", what}};
}

Json action_json(Duration t, const std::string& what) {
  return {{"type", "action"}, {"t", rounded(to_seconds(t))}, {"what", what}};
}

std::string time_stamp(std::chrono::system_clock::time_point time, Zone zone) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm local{};
  zone == Zone::kLocal ? localtime_r(&seconds, &local) : gmtime_r(&seconds, &local);
  // strftime's %b would depend on the locale.
  static constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto since_epoch =
      std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch());
  return format("%s %2d %02d:%02d:%02d.%03d", kMonths.at(static_cast<std::size_t>(local.tm_mon)),
                local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec,
                static_cast<int>(since_epoch.count() % 1000));
}

std::string server_line(const std::string& stamp, const ServerInterval& interval) {
  const std::string delay = format_duration(interval.last_delay);
  if (const auto& workers = interval.workers) {
    return format("%s: busy: %4zu of %zu, waiting: %4zu, delay: %s", stamp.c_str(), workers->busy,
                  workers->workers, workers->waiting, delay.c_str());
  }
  return format("%s: concurrency: %4zu, last delay: %s", stamp.c_str(), interval.concurrency,
                delay.c_str());
}

Json server_interval_json(Duration t, Duration window, const ServerInterval& interval) {
  const auto rate = [seconds = to_seconds(window)](auto count) {
    return seconds > 0 ? rounded(static_cast<double>(count) / seconds) : 0;
  };
  const ServiceCounts& counts = interval.counts;
  auto rejected = Json::object();
  for (std::size_t i = 0; i < kRejections.size(); ++i) {
    rejected[kRejections[i].name] = rate(counts.rejected[i]);
  }
  Json json{
      {"type", "interval"}, {"t", rounded(to_seconds(t))}, {"concurrency", interval.concurrency}};
  if (interval.waited_for) json["waited_for"] = *interval.waited_for;
  json["last_delay_s"] = to_seconds(interval.last_delay);
  if (interval.kernel) {
    json["accept_queue"] = interval.kernel->accept_queue;
    json["no_room"] = interval.kernel->no_room;
  }
  add_workers(json, interval.workers);
  json.update({{"offered", rate(counts.offered)},
               {"admitted", rate(counts.admitted)},
               {"completed", rate(counts.completed)},
               {"served", rate(counts.served)},
               {"failed", rate(counts.failed)},
               {"lost", rate(counts.lost)},
               {"rejected", rejected},
               {"served_ms", latency_json(interval.times.served)},
               {"late_ms", latency_json(interval.times.late)}});
  if (interval.capacity) {
    const auto& [capacity, use] = *interval.capacity;
    json["capacity"] = rounded(capacity);
    json["provided"] = rate(use.provided);
    json["used"] = rate(use.used);
  }
  return json;
}

Json recovery_json(const Recovery& recovery) {
  return {
      {"verdict", to_string(recovery.verdict)},
      {"reason", recovery.causes.empty() ? Json(nullptr) : Json(words_of(recovery.causes))},
      {"causes", statements_json(recovery.causes)},
      {"baseline_ok", recovery.baseline_ok ? Json(rounded(*recovery.baseline_ok)) : Json(nullptr)},
      {"errors_gone_s", seconds_json(recovery.errors_gone)},
      {"time_to_recovery_s", seconds_json(recovery.time_to_recovery)},
      {"time_to_50_percent_s", seconds_json(recovery.time_to_half)},
      {"time_to_95_percent_s", seconds_json(recovery.time_to_full)},
      {"peak_attempts", rounded(recovery.peak_attempts)},
      {"ok_lost", rounded(recovery.ok_lost)},
  };
}

Json latency_json(const LatencyQuantiles& latency) {
  return {{"p50", milliseconds_json(latency.p50)},
          {"p95", milliseconds_json(latency.p95)},
          {"p99", milliseconds_json(latency.p99)}};
}

Json latency_json(const LatencyHistogram& latency) {
  auto json = latency_json(quantiles(latency));
  json["max"] = milliseconds_json(latency.max());
  return json;
}

Json latency_json(const RequestTimes& times) {
  Json json;
  add_bound(json, "p50", times.quantile(0.5));
  add_bound(json, "p95", times.quantile(0.95));
  add_bound(json, "p99", times.quantile(0.99));
  add_bound(json, "max", times.max());
  return json;
}

namespace {

// The figures of a phase, with its name at the end of theirs.
void add_phase(Json& json, std::string_view name, const PhaseFigures& phase) {
  const auto named = [&name](const char* figure, const char* unit = "") {
    return figure + std::string(name) + unit;
  };
  const auto success = phase.success_share();
  const Rates each = rates(phase.counts, phase.length);
  json[named("success_")] = success ? share_json(*success) : Json(nullptr);
  json[named("requests_")] = phase.requests();
  json[named("gave_up_")] = phase.gave_up;
  json[named("unfinished_")] = phase.unfinished;
  json[named("not_sent_")] = phase.counts.not_sent;
  json[named("attempts_per_s_")] = rounded(each.attempts);
  json[named("ok_per_s_")] = rounded(each.ok);
  json[named("timed_out_")] = phase.counts.timed_out;
  json[named("errors_")] = phase.counts.errors;
  json[named("errors_by_")] = errors_json(phase.counts);
  add_bound(json, named("request_p50_", "_ms"), phase.request_p50);
  add_bound(json, named("request_p99_", "_ms"), phase.request_p99);
}

}  // namespace

Json edge_json(Duration t, const std::string& from, const std::string& to, const Rates& calls) {
  return {{"type", "edge"},
          {"t", rounded(to_seconds(t))},
          {"from", from},
          {"to", to},
          {"requests_per_s", rounded(calls.requests)},
          {"attempts_per_s", rounded(calls.attempts)},
          {"retries_per_s", rounded(calls.retries)},
          {"ok_per_s", rounded(calls.ok)},
          {"errors_per_s", rounded(calls.errors)},
          {"timedout_per_s", rounded(calls.timed_out)}};
}

namespace {

Json host_json(std::size_t host, const HostInterval& state) {
  Json json{{"host", host + 1},       {"attempts", state.attempts},   {"ok", state.ok},
            {"failed", state.failed}, {"ejections", state.ejections}, {"out", rounded(state.out)},
            {"frozen", state.frozen}};
  if (!state.concurrency) return json;
  json.update({{"concurrency", *state.concurrency},
               {"busy", state.workers.busy},
               {"waiting", state.workers.waiting},
               {"state", kHostStateNames[static_cast<std::size_t>(state.state)]},
               {"restarts", state.restarts},
               {"killed", state.killed}});
  return json;
}

}  // namespace

std::vector<Json> hosts_json(Duration t, const HostIntervals& hosts) {
  std::vector<Json> lines;
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    lines.push_back({{"type", "host"}, {"t", rounded(to_seconds(t))}});
    lines.back().update(host_json(host, hosts[host]));
  }
  return lines;
}

Json node_json(const NodeInterval& node, bool holds) {
  return {{"offered_per_s", rounded(node.offered)},
          {"admitted_per_s", rounded(node.admitted)},
          {"refused_per_s", rounded(node.refused)},
          {"in_time_per_s", rounded(node.in_time)},
          {"worked_per_s", rounded(node.worked)},
          {"for_nobody_per_s", rounded(node.for_nobody)},
          {"workers", node.workers},
          {"busy", rounded(node.busy)},
          {"held", holds ? rounded(node.calling) : 0},
          {"calling", rounded(node.calling)},
          {"queue", node.queue}};
}

std::vector<Json> graph_interval_json(const GraphShape& shape, const GraphInterval& interval) {
  std::vector<Json> lines;
  const double t = rounded(to_seconds(interval.t));
  for (std::size_t i = 0; i < interval.nodes.size(); ++i) {
    for (std::size_t k = 0; k < interval.edges.size(); ++k) {
      const EdgeInterval& edge = interval.edges[k];
      if (shape.edges[k].to != i) continue;
      lines.push_back(
          edge_json(interval.t, shape.caller(shape.edges[k]), shape.nodes[i].name, edge.calls));
      lines.back()["amplification"] = rounded(edge.amplification);
    }
    Json line{{"type", "node"}, {"t", t}, {"node", shape.nodes[i].name}};
    line.update(node_json(interval.nodes[i], shape.nodes[i].holds));
    lines.push_back(std::move(line));
  }
  return lines;
}

std::optional<Statement> first_death(const GraphResult& graph) {
  if (!graph.first) return std::nullopt;
  const NodeResult& node = graph.nodes[*graph.first];
  return Statement{"run-died-first",
                   {{"node", node.name},
                    {"at", node.died.value_or(Duration::zero())},
                    {"why", words_of(graph.why)}}};
}

Json graph_json(const GraphResult& graph) {
  const auto number = [](const std::optional<double>& value) {
    return value ? Json(rounded(*value)) : Json();
  };
  Json json{{"died_first", nullptr}, {"why", nullptr}};
  if (graph.first) {
    json["died_first"] = graph.nodes[*graph.first].name;
    json["why"] = words_of(graph.why);
  }
  for (const NodeResult& each : graph.nodes) {
    json["nodes"].push_back({{"node", each.name},
                             {"amplification", rounded(each.amplification)},
                             {"amplification_during", number(each.during)},
                             {"died_at", seconds_json(each.died)},
                             {"back_at", seconds_json(each.back)}});
    if (!each.full_at) continue;
    json["nodes"].back().update({{"full_at", seconds_json(each.full_at)},
                                 {"full_workers", each.full_workers},
                                 {"full_queue", each.full_queue}});
  }
  for (const EdgeResult& each : graph.edges) {
    json["edges"].push_back({{"from", each.from},
                             {"to", each.to},
                             {"amplification", rounded(each.amplification)},
                             {"share", rounded(each.share)}});
  }
  for (const ClientsResult& each : graph.clients) {
    json["clients"].push_back({{"clients", each.name},
                               {"requests", each.counts.requests},
                               {"attempts", each.counts.attempts},
                               {"ok", each.counts.ok},
                               {"gave_up", each.counts.gave_up()},
                               {"success_share", rounded(each.counts.success_share())},
                               {"ok_per_s_before", number(each.ok[0])},
                               {"ok_per_s_during", number(each.ok[1])},
                               {"ok_per_s_after", number(each.ok[2])}});
  }
  return json;
}

Json summary_json(const Summary& summary) {
  const Counts& counts = summary.counts;
  const RetryMetrics& metrics = summary.retry_metrics;
  Json json{{"type", "summary"}};
  json.update(recovery_json(summary.recovery));
  json["outage"] = summary.outage.empty() ? Json() : Json(summary.outage);
  json.update({
      {"amplification", rounded(counts.amplification())},
      {"elapsed_s", rounded(to_seconds(summary.elapsed))},
      {"ok", counts.ok},
      {"errors", counts.errors},
      {"errors_by", errors_json(counts)},
      {"timed_out", counts.timed_out},
      {"requests", counts.requests},
      {"retries", counts.retries},
      {"success_share", share_json(counts.success_share())},
      {"failing", counts.failing},
      {"gave_up", counts.gave_up()},
      {"gave_up_by", gave_up_json(counts.gave_up_by)},
      {"not_sent", counts.not_sent},
      {"latency_ms", latency_json(summary.latencies.attempts())},
      {"request_time_ms", latency_json(summary.latencies.requests())},
      {"longest_without_ok_s", rounded(to_seconds(summary.longest_without_ok))},
      {"pauses", metrics.sleeps},
      {"pauses_s", rounded(to_seconds(metrics.total_sleep))},
  });
  if (summary.phases) {
    for (std::size_t i = 0; i < kPhaseNames.size(); ++i) {
      add_phase(json, kPhaseNames[i], (*summary.phases)[i]);
    }
  }
  if (counts.hedges > 0) {
    json["hedges"] = counts.hedges;
    json["hedges_won"] = counts.hedges_won;
  }
  if (!summary.first_error.empty()) json["first_error"] = summary.first_error;
  if (counts.nothing_retried() > 0) {
    json["nothing_retried"] = {{"not_retryable", counts.nothing_retried()},
                               {"failures", to_string(metrics.not_retryable)}};
  }
  if (summary.processes > 0) {
    json["processes"] = summary.processes;
    json["process_requests_per_s"] = rounded(summary.process_rate());
  }
  if (summary.failed_commands) json["failed_commands"] = *summary.failed_commands;
  if (summary.failed_orders) json["failed_orders"] = *summary.failed_orders;
  if (summary.arrival_lag) {
    json["dropped_arrivals"] = summary.arrival_lag->dropped_arrivals;
    json["latest_start_ms"] = milliseconds_json(summary.arrival_lag->latest_start);
    json["late_starts"] = summary.arrival_lag->late_starts;
  }
  if (summary.job) {
    const JobResult& job = *summary.job;
    json["job"] = {{"tasks", job.settings.tasks},
                   {"calls", job.settings.calls},
                   {"done", job.done},
                   {"makespan_s", seconds_json(job.makespan)},
                   {"throttled_share", share_json(counts.throttled_share())}};
  }
  if (summary.reconnect) {
    const ReconnectResult& reconnect = *summary.reconnect;
    json["reconnect"] = {{"clients", reconnect.clients},
                         {"back", reconnect.back},
                         {"attempts", reconnect.attempts},
                         {"failed", reconnect.failed},
                         {"half_back_s", seconds_json(reconnect.half_back)},
                         {"all_back_s", seconds_json(reconnect.all_back)}};
  }
  if (summary.hosts) {
    const HostIntervals& hosts = summary.hosts->hosts;
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      json["hosts"].push_back(host_json(host, hosts[host]));
      json["hosts"].back()["attempts_in_outage"] = hosts[host].attempts_in_outage;
    }
  }
  if (summary.kept) json["connections"] = connections_json(*summary.kept);
  if (summary.on_waking) {
    const FoundOnWaking& found = *summary.on_waking;
    json["on_waking"] = {{"accept_queue", found.accept_queue},
                         {"kept", found.kept},
                         {"stale", found.stale},
                         {"no_room", found.no_room}};
  }
  if (summary.capacity) {
    const CapacityUse& use = summary.capacity->use;
    json["capacity"] = {{"provided_unit_s", rounded(use.provided)},
                        {"used", use.used},
                        {"idle_share", share_json(idle_share(use))}};
  }
  if (summary.paced) {
    json["sleeper"] = {
        {"invocations", metrics.invocations}, {"ups", metrics.ups}, {"downs", metrics.downs}};
  }
  if (summary.graph) json["services"] = graph_json(*summary.graph);
  return json;
}

}  // namespace retrystorm
