#include "client/metrics.h"

#include <nlohmann/json.hpp>

#include "common/metrics/exposition.h"
#include "common/output/json_text.h"
#include "common/output/report.h"

namespace retrystorm {
namespace {

void add_metrics(const Fleet& fleet, Exposition& metrics) {
  const FleetTotals totals = fleet.totals();
  const Counts& counts = totals.counts;
  metrics.add("retrystorm_attempts_total", "Attempts that have ended, by outcome.", "outcome",
              {{"ok", counts.ok}, {"error", counts.errors}, {"timed_out", counts.timed_out}});
  metrics.add("retrystorm_requests_total", "Requests sent, each counted once.", counts.requests);
  metrics.add("retrystorm_retries_total", "Attempts sent after the first one of a request.",
              counts.retries);
  Exposition::LabelledValues given_up;
  for (std::size_t i = 0; i < kGiveUpNames.size(); ++i) {
    given_up.emplace_back(kGiveUpNames[i], counts.gave_up_by[i]);
  }
  metrics.add("retrystorm_requests_given_up_total", "Requests that failed for good, by reason.",
              "reason", given_up);
  metrics.add("retrystorm_attempts_not_sent_total",
              "Attempts that the clients' breaker, throttle or limit refused.", counts.not_sent);
  metrics.add("retrystorm_requests_failing",
              "Requests whose last attempt failed and that will be retried.", counts.failing);
  metrics.add("retrystorm_clients", "Clients by what they are doing.", "state",
              {{"thinking", totals.clients.thinking},
               {"in_flight", totals.clients.in_flight},
               {"waiting_to_retry", totals.clients.waiting_to_retry}});
  if (const auto& kept = totals.clients.kept) {
    metrics.add("retrystorm_connections", "Kept connections by state.", "state",
                {{"idle", kept->idle}, {"in_use", kept->open - kept->idle}});
    metrics.add("retrystorm_attempts_in_line",
                "Attempts that wait for a connection of their process's pool.", kept->in_line);
    metrics.add("retrystorm_connections_opened_total", "Connections that the pools have opened.",
                kept->opened);
    metrics.add("retrystorm_attempts_waited_in_line_total",
                "Attempts that had to wait for a connection of their process's pool.",
                kept->waited);
    metrics.add("retrystorm_connections_given_up_total",
                "Connections closed because their attempt timed out or was cancelled.",
                kept->given_up);
    metrics.add("retrystorm_attempts_sent_again_total",
                "Attempts that were lost with a kept connection, and sent again.",
                kept->sent_again);
  }
  if (fleet.is_open()) {
    metrics.add("retrystorm_arrivals_dropped_total", "Open arrivals for which no thread was free.",
                totals.arrival_lag.dropped_arrivals);
    metrics.add("retrystorm_arrival_threads", "Threads that serve open arrivals or wait for one.",
                fleet.threads());
    metrics.add("retrystorm_latest_start_seconds", "How late an open arrival began, at most.",
                to_seconds(totals.arrival_lag.latest_start));
  }
  metrics.add(fleet.histograms().families());
}

}  // namespace

std::string ClientMetrics::render() const {
  Exposition metrics;
  if (const auto fleet = fleet_.get()) add_metrics(*fleet, metrics);
  metrics.add_process();
  return metrics.text();
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
