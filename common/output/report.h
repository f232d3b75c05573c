// What the programs say: the original's two lines, their JSON twins, and the summary of a run.
#pragma once

#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "model/base/latency.h"
#include "model/run/counts.h"
#include "model/run/recovery.h"
#include "model/run/request_trace.h"
#include "model/run/run_observer.h"
#include "model/service/service_interval.h"

namespace retrystorm {

// "OK: 98.00 req/sec, errors: 0.00 req/sec, timedout: 0.00 req/sec"
std::string client_line(const Rates& rates);

// The first line of a file: who wrote it, the command that repeats the run, and every option.
// `started_at` is what the clock on the wall showed when `t` was 0, by which the files of programs
// that were started one after the other are laid side by side; virtual time has none.
nlohmann::ordered_json start_json(
    const std::string& program, const std::string& command, const nlohmann::ordered_json& options,
    std::optional<std::chrono::system_clock::time_point> started_at = std::nullopt);

nlohmann::ordered_json client_interval_json(const RunInterval& interval);

// Its `event` is "stop" or "continue".
nlohmann::ordered_json outage_json(Duration t, OutageEvent event, const std::string& what);
nlohmann::ordered_json action_json(Duration t, const std::string& what);

// One attempt of a request that was followed, the `index`th, and the request itself. Times to a
// microsecond.
nlohmann::ordered_json attempt_json(const TracedRequest& request, std::size_t index);
nlohmann::ordered_json request_json(const TracedRequest& request);

// "Jun 21 22:13:07.492". A virtual clock starts with the year 1970 and is read in UTC.
enum class Zone { kLocal, kUtc };
std::string time_stamp(std::chrono::system_clock::time_point time, Zone zone = Zone::kLocal);

// "<stamp>: concurrency: 1040, last delay: 2.671444385s", or of workers
// "<stamp>: busy:   20 of 20, waiting:  153, delay: 870ms"
std::string server_line(const std::string& stamp, const ServerInterval& interval);

// Adds how a service of workers stands (a `WorkerState`, or what another process says of its own):
// `workers`, `busy` and `waiting`; nothing without them.
template <typename Workers>
void add_workers(nlohmann::ordered_json& json, const std::optional<Workers>& workers) {
  if (!workers) return;
  json["workers"] = workers->workers;
  json["busy"] = workers->busy;
  json["waiting"] = workers->waiting;
}

// `window` is the time that the interval covers.
nlohmann::ordered_json server_interval_json(Duration t, Duration window,
                                            const ServerInterval& interval);

// The verdict and its figures, as the summary and the live page have them.
nlohmann::ordered_json recovery_json(const Recovery& recovery);

// In seconds, and in milliseconds; null for what did not happen.
nlohmann::ordered_json seconds_json(std::optional<Duration> time);
nlohmann::ordered_json milliseconds_json(std::optional<Duration> time);

// Quantiles in milliseconds; null where there are none.
nlohmann::ordered_json latency_json(const LatencyHistogram& latency);
nlohmann::ordered_json latency_json(const LatencyQuantiles& latency);

// A share of requests, to a thousandth of a percent.
nlohmann::ordered_json share_json(double share);

// Requests given up, by reason.
nlohmann::ordered_json gave_up_json(const GiveUpCounts& counts);

// "99.83 % of the requests; 12 given up (attempts 9, budget 3)"
std::string success_text(const Counts& counts);

// Who asks: "1000 clients", or, where `arrival_rate` is not 0, "100 requests a second".
std::string callers_text(std::size_t clients, double arrival_rate);

// Several lines for a person, without the last line's end.
std::string summary_text(const Summary& summary);

nlohmann::ordered_json summary_json(const Summary& summary);

}  // namespace retrystorm
