#include "client/metrics.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/metrics/exposition.h"
#include "common/output/json_text.h"
#include "common/output/report.h"

namespace retrystorm {

std::string ClientMetrics::render() const {
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  const auto fleet = fleet_.get();
  if (fleet == nullptr) return exposition(process_families());
  const FleetTotals totals = fleet->totals();
  const Counts& counts = totals.counts;
  LabelledValues given_up;
  for (std::size_t i = 0; i < kGiveUpNames.size(); ++i) {
    given_up.emplace_back(kGiveUpNames[i], number(counts.gave_up_by[i]));
  }
  std::vector<prometheus::MetricFamily> families{
      counters("retrystorm_attempts_total", "Attempts that have ended, by outcome.", "outcome",
               {{"ok", number(counts.ok)},
                {"error", number(counts.errors)},
                {"timed_out", number(counts.timed_out)}}),
      counter("retrystorm_requests_total", "Requests sent, each counted once.",
              number(counts.requests)),
      counter("retrystorm_retries_total", "Attempts sent after the first one of a request.",
              number(counts.retries)),
      counters("retrystorm_requests_given_up_total", "Requests that failed for good, by reason.",
               "reason", given_up),
      counter("retrystorm_attempts_not_sent_total",
              "Attempts that the clients' breaker, throttle or limit refused.",
              number(counts.not_sent)),
      gauge("retrystorm_requests_failing",
            "Requests whose last attempt failed and that will be retried.", number(counts.failing)),
      gauges("retrystorm_clients", "Clients by what they are doing.", "state",
             {{"thinking", number(totals.clients.thinking)},
              {"in_flight", number(totals.clients.in_flight)},
              {"waiting_to_retry", number(totals.clients.waiting_to_retry)}})};
  if (const auto& kept = totals.clients.kept) {
    families.push_back(
        gauges("retrystorm_connections", "Kept connections by state.", "state",
               {{"idle", number(kept->idle)}, {"in_use", number(kept->open - kept->idle)}}));
    families.push_back(gauge("retrystorm_attempts_in_line",
                             "Attempts that wait for a connection of their process's pool.",
                             number(kept->in_line)));
    families.push_back(counter("retrystorm_connections_opened_total",
                               "Connections that the pools have opened.", number(kept->opened)));
    families.push_back(
        counter("retrystorm_attempts_waited_in_line_total",
                "Attempts that had to wait for a connection of their process's pool.",
                number(kept->waited)));
    families.push_back(
        counter("retrystorm_connections_given_up_total",
                "Connections closed because their attempt timed out or was cancelled.",
                number(kept->given_up)));
    families.push_back(counter("retrystorm_attempts_sent_again_total",
                               "Attempts that were lost with a kept connection, and sent again.",
                               number(kept->sent_again)));
  }
  if (fleet->is_open()) {
    families.push_back(counter("retrystorm_arrivals_dropped_total",
                               "Open arrivals for which no thread was free.",
                               number(totals.arrival_lag.dropped_arrivals)));
    families.push_back(gauge("retrystorm_arrival_threads",
                             "Threads that serve open arrivals or wait for one.",
                             number(fleet->threads())));
    families.push_back(gauge("retrystorm_latest_start_seconds",
                             "How late an open arrival began, at most.",
                             to_seconds(totals.arrival_lag.latest_start)));
  }
  for (auto& family : fleet->histograms().families()) families.push_back(std::move(family));
  for (auto& family : process_families()) families.push_back(std::move(family));
  return exposition(families);
}

std::string ClientMetrics::status() const {
  const auto fleet = fleet_.get();
  if (fleet == nullptr) return "{\"program\":\"client\"}\n";
  const FleetTotals totals = fleet->totals();
  const Counts& counts = totals.counts;
  const ClientHistory history = fleet->history();
  const auto waits = fleet->histograms().retry_waits();
  Json status{{"program", "client"}};
  status["uptime_s"] = rounded(to_seconds(Clock::now() - start_));
  if (fleet->is_open()) {
    status["threads"] = fleet->threads();
    status["dropped_arrivals"] = totals.arrival_lag.dropped_arrivals;
    status["latest_start_ms"] = milliseconds_json(totals.arrival_lag.latest_start);
  } else {
    status["clients"] = fleet->threads();
  }
  status["thinking"] = totals.clients.thinking;
  status["in_flight"] = totals.clients.in_flight;
  status["waiting_to_retry"] = totals.clients.waiting_to_retry;
  if (totals.clients.kept) status["connections"] = connections_json(*totals.clients.kept);
  status["ok"] = counts.ok;
  status["errors"] = counts.errors;
  status["timed_out"] = counts.timed_out;
  status["requests"] = counts.requests;
  status["retries"] = counts.retries;
  status["failing"] = counts.failing;
  status["gave_up"] = counts.gave_up();
  status["gave_up_by"] = gave_up_json(counts.gave_up_by);
  status["not_sent"] = counts.not_sent;
  status["amplification"] = rounded(counts.amplification());
  status["success_share"] = share_json(counts.success_share());
  status["latency_ms"] = latency_json(history.latencies.attempts());
  status["request_time_ms"] = latency_json(history.latencies.requests());
  status["longest_without_ok_s"] = rounded(to_seconds(history.longest_without_ok));
  status["retry_waits"] = {{"count", waits.count}, {"seconds", rounded(waits.seconds)}};
  return status.dump() + '\n';
}

std::vector<PageServer::Page> ClientMetrics::pages() const {
  return {
      {.path = "/metrics", .content_type = kExpositionType, .render = [this] { return render(); }},
      {.path = "/status", .content_type = "application/json", .render = [this] {
         return status();
       }}};
}

}  // namespace retrystorm
