// The programs' output: the original experiment's two lines, the same as JSON, and a run's summary.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/output/json_text.h"
#include "model/base/latency.h"
#include "model/run/counts.h"
#include "model/run/graph_report.h"
#include "model/run/outlook.h"
#include "model/run/recovery.h"
#include "model/run/request_trace.h"
#include "model/run/run_observer.h"
#include "model/service/service_observer.h"

namespace retrystorm {

// "OK: 98.00 req/sec, errors: 0.00 req/sec, timedout: 0.00 req/sec"
std::string client_line(const Rates& rates);

// The outlook of the run, for the first line. Unlimited figures are null.
Json outlook_json(const Outlook& outlook);

Json connections_json(const KeptConnections& kept);
Json client_interval_json(const RunInterval& interval);

// Its `event` is "stop" or "continue".
Json outage_json(Duration t, OutageEvent event, const std::string& what);
Json action_json(Duration t, const std::string& what);

// The attempt number `index` of a traced request, and the traced request itself. Times are rounded
// to microseconds.
Json attempt_json(const TracedRequest& request, std::size_t index);
Json request_json(const TracedRequest& request);

// "Jun 21 22:13:07.492". A virtual clock starts at the beginning of 1970 and is printed in UTC.
enum class Zone { kLocal, kUtc };
std::string time_stamp(std::chrono::system_clock::time_point time, Zone zone = Zone::kLocal);

// "<stamp>: concurrency: 1040, last delay: 2.671444385s", or for a service with workers
// "<stamp>: busy:   20 of 20, waiting:  153, delay: 870ms"
std::string server_line(const std::string& stamp, const ServerInterval& interval);

// Adds the state of a service with workers: `workers`, `busy` and `waiting`. `Workers` is a
// `WorkerState`, or what another process reports about its workers. Adds nothing without workers.
template <typename Workers>
void add_workers(Json& json, const std::optional<Workers>& workers) {
  if (!workers) return;
  json["workers"] = workers->workers;
  json["busy"] = workers->busy;
  json["waiting"] = workers->waiting;
}

// `window` is the time that the interval covers.
Json server_interval_json(Duration t, Duration window, const ServerInterval& interval);

// A line for each host.
std::vector<Json> hosts_json(Duration t, const HostIntervals& hosts);

// The calls of one service to another, a second.
Json edge_json(Duration t, const std::string& from, const std::string& to, const Rates& calls);
// Of services behind services: for each a line of type "node", and one of type "edge" for those who call it.
std::vector<Json> graph_interval_json(const GraphShape& names, const GraphInterval& interval);
// A service in one interval. `holds`: do its workers wait for the answers of their calls?
Json node_json(const NodeInterval& node, bool holds);
// The services of a run, who calls whom, and the kinds of clients.
Json graph_json(const GraphResult& graph);
// "api died first, at 45 s: ...", or nothing if no service died.
std::optional<Statement> first_death(const GraphResult& graph);

// The verdict and its figures, for the summary and the live page.
Json recovery_json(const Recovery& recovery);

// A time in seconds, and in milliseconds; null for an event that did not happen.
Json seconds_json(std::optional<Duration> time);
Json milliseconds_json(std::optional<Duration> time);

// Quantiles in milliseconds; null if there are none.
Json latency_json(const LatencyHistogram& latency);
Json latency_json(const LatencyQuantiles& latency);
// Each with its upper end: null if it falls on a request that has not ended.
Json latency_json(const RequestTimes& times);
// The same of one time in milliseconds.
Json low_end_json(const std::optional<TimeBound>& time);
Json high_end_json(const std::optional<TimeBound>& time);

// A share of requests, rounded to a thousandth of a percent.
Json share_json(double share);

// {"503": 12, "refused": 3}, without those of other kinds.
Json errors_json(const Counts& counts);

// Requests given up, by reason.
Json gave_up_json(const GiveUpCounts& counts);

// The source of the requests: "1000 clients", or if `arrival_rate` is not 0 "100 requests a second", or the plan's text.
std::string callers_text(std::size_t clients, double arrival_rate, const std::string& plan = "");

Json summary_json(const Summary& summary);

}  // namespace retrystorm
