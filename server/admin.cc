#include "server/admin.h"

#include <iostream>
#include <stdexcept>
#include <vector>

#include "common/metrics/exposition.h"
#include "common/output/json_lines.h"

namespace retrystorm {

std::string server_metrics(const ServerInterval& totals) {
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  std::vector<prometheus::MetricFamily> families{
      gauge("retrystorm_server_concurrency", "Connections accepted and not yet answered.",
            number(totals.concurrency)),
      gauge("retrystorm_server_delay_seconds",
            "Delay of a request, as the curve has it for this concurrency.",
            to_seconds(totals.last_delay)),
      counter("retrystorm_server_arrivals_total", "Connections let in.", number(totals.arrivals)),
      counters("retrystorm_server_requests_total",
               "Connections dealt with, by what became of them.", "result",
               {{"served", number(totals.departures)},
                {"rate_limited", number(totals.rejected_429)},
                {"shed", number(totals.rejected_503)}})};
  for (auto& family : process_families()) families.push_back(std::move(family));
  return exposition(families);
}

nlohmann::ordered_json server_status(const ServerInterval& totals, Duration uptime) {
  return {{"program", "server"},
          {"uptime_s", rounded(to_seconds(uptime))},
          {"concurrency", totals.concurrency},
          {"last_delay_s", to_seconds(totals.last_delay)},
          {"arrivals", totals.arrivals},
          {"departures", totals.departures},
          {"rejected_429", totals.rejected_429},
          {"rejected_503", totals.rejected_503}};
}

Admin::Admin(const HttpServer& server, const ServerOptions& options) {
  if (options.admin_port == 0) return;
  try {
    open(server, options.admin_port);
  } catch (const AddressInUse& error) {
    if (options.admin_port_given) {
      throw std::runtime_error(std::string("--admin-port: ") + error.what());
    }
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
