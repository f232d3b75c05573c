#include "server/admin.h"

#include <iostream>
#include <stdexcept>
#include <vector>

#include "common/metrics/exposition.h"
#include "common/output/json_lines.h"

namespace retrystorm {

std::string server_metrics(const ServerInterval& totals) {
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  const ServiceCounts& counts = totals.counts;
  LabelledValues rejected;
  for (std::size_t i = 0; i < kRejections.size(); ++i) {
    rejected.emplace_back(kRejections[i].name, number(counts.rejected[i]));
  }
  std::vector<prometheus::MetricFamily> families{
      gauge("retrystorm_server_concurrency", "Connections accepted and not yet answered.",
            number(totals.concurrency)),
      gauge("retrystorm_server_delay_seconds",
            "Delay of a request: what the curve has for this concurrency; with workers, what one "
            "that came now would take behind all who wait.",
            to_seconds(totals.last_delay)),
      counter("retrystorm_server_requests_offered_total",
              "Connections accepted, whatever became of them.", number(counts.offered)),
      counter("retrystorm_server_requests_admitted_total", "Connections let into the service.",
              number(counts.admitted)),
      counters("retrystorm_server_requests_completed_total",
               "Connections that the service is done with: served is an OK that could be sent, "
               "failed an error for --error-share, wasted anything else, as for a client that has "
               "gone.",
               "result",
               {{"served", number(counts.served)},
                {"failed", number(counts.failed)},
                {"wasted", number(counts.completed - counts.served - counts.failed)}}),
      counters("retrystorm_server_requests_rejected_total", "Connections turned away, by reason.",
               "reason", rejected)};
  if (const auto& workers = totals.workers) {
    families.push_back(gauge("retrystorm_server_workers", "Requests that can be served at a time.",
                             number(workers->workers)));
    families.push_back(gauge("retrystorm_server_busy_workers", "Workers that serve or turn away.",
                             number(workers->busy)));
    families.push_back(gauge("retrystorm_server_waiting_requests",
                             "Requests that wait for a worker.", number(workers->waiting)));
  }
  for (auto& family : process_families()) families.push_back(std::move(family));
  return exposition(families);
}

nlohmann::ordered_json server_status(const ServerInterval& totals, Duration uptime) {
  const ServiceCounts& counts = totals.counts;
  auto rejected = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < kRejections.size(); ++i) {
    rejected[kRejections[i].name] = counts.rejected[i];
  }
  nlohmann::ordered_json status{{"program", "server"},
                                {"uptime_s", rounded(to_seconds(uptime))},
                                {"concurrency", totals.concurrency},
                                {"last_delay_s", to_seconds(totals.last_delay)}};
  add_workers(status, totals.workers);
  status.update({{"offered_total", counts.offered},
                 {"admitted_total", counts.admitted},
                 {"completed_total", counts.completed},
                 {"served_total", counts.served},
                 {"failed_total", counts.failed},
                 {"rejected_total", rejected}});
  return status;
}

Admin::Admin(const HttpServer& server, const ServerOptions& options) {
  const WatchPort port =
      options.admin_port.value_or(WatchPort(static_cast<std::size_t>(server.port()) + 1));
  if (!port) return;
  try {
    open(server, *port);
  } catch (const AddressInUse& error) {
    if (options.admin_port) throw std::runtime_error(std::string("--admin-port: ") + error.what());
    std::cerr << "no metrics: " << error.what() << " (choose another --admin-port)\n";
  }
}

void Admin::open(const HttpServer& server, std::size_t port) {
  endpoint_.emplace(
      port, std::vector<Endpoint::Page>{
                {.path = "/metrics",
                 .content_type = kExpositionType,
                 .render = [&server] { return server_metrics(server.totals()); }},
                {.path = "/status", .content_type = "application/json", .render = [this, &server] {
                   return server_status(server.totals(), Clock::now() - start_).dump() + '\n';
                 }}});
  std::cerr << "metrics on " << endpoint_->url() << "/metrics\n";
}

}  // namespace retrystorm
