#include "common/output/json_report.h"

#include <cstddef>

#include "common/output/report.h"

namespace retrystorm {

void JsonReport::on_interval(const RunInterval& interval) {
  sink_(client_interval_json(interval));
}

void JsonReport::on_outage(Duration t, OutageEvent event, const std::string& what) {
  sink_(outage_json(t, event, what));
}

void JsonReport::on_action(Duration t, const std::string& what) {
  sink_(action_json(t, what));
}

void JsonReport::on_hosts(Duration t, const HostIntervals& hosts) {
  for (const auto& line : hosts_json(t, hosts)) sink_(line);
}

void JsonReport::on_graph(const GraphShape& names, const GraphInterval& interval) {
  for (const auto& line : graph_interval_json(names, interval)) sink_(line);
}

void JsonReport::on_request(const TracedRequest& request) {
  for (std::size_t i = 0; i < request.attempts.size(); ++i) sink_(attempt_json(request, i));
  sink_(request_json(request));
}

void JsonReport::on_summary(const Summary& summary) {
  sink_(summary_json(summary));
}

void ServiceJsonReport::on_interval(Duration t, Duration window, const ServerInterval& interval) {
  sink_(server_interval_json(t, window, interval));
}

}  // namespace retrystorm
