// What the programs say: the original's two lines, their JSON twins, and the summary of a run.
#pragma once

#include <chrono>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/counts.h"
#include "common/latency.h"
#include "common/recovery.h"
#include "common/retry_policy.h"

namespace retrystorm {

// "OK: 98.00 req/sec, errors: 0.00 req/sec, timedout: 0.00 req/sec"
std::string client_line(const Rates& rates);

// The first line of a file: who wrote it, the command that repeats the run, and every option.
nlohmann::ordered_json start_json(const std::string& program, const std::string& command,
                                  const nlohmann::ordered_json& options);

// `t` is the time since the start.
nlohmann::ordered_json client_interval_json(Duration t, const Rates& rates,
                                            const ClientStates& clients);

// `event` is "stop" or "continue".
nlohmann::ordered_json outage_json(Duration t, const std::string& event);

// What the server counted since the line before.
struct ServerInterval {
  std::size_t concurrency = 0;
  Duration last_delay{0};
  std::uint64_t arrivals = 0;
  std::uint64_t departures = 0;
  std::uint64_t rejected_429 = 0;
  std::uint64_t rejected_503 = 0;
};

// "Jun 21 22:13:07.492". A virtual clock starts with the year 1970 and is read in UTC.
enum class Zone { kLocal, kUtc };
std::string time_stamp(std::chrono::system_clock::time_point time, Zone zone = Zone::kLocal);

// "<stamp>: concurrency: 1040, last delay: 2.671444385s"
std::string server_line(const std::string& stamp, const ServerInterval& interval);

// `window` is the time that the interval covers.
nlohmann::ordered_json server_interval_json(Duration t, Duration window,
                                            const ServerInterval& interval);

// The verdict and its figures, as the summary and the live page have them.
nlohmann::ordered_json recovery_json(const Recovery& recovery);

// Quantiles in milliseconds.
nlohmann::ordered_json latency_json(const LatencyHistogram& latency);

// A whole run.
struct Summary {
  Strategy strategy = Strategy::kFixed;
  std::size_t clients = 0;
  std::uint64_t seed = 0;
  Duration elapsed{0};
  Counts counts;
  Recovery recovery;
  LatencyHistogram latency;  // of OK attempts
  RetryMetrics retry_metrics;
  Duration longest_without_ok{0};  // of any single client
};

// Several lines for a person, without the last line's end.
std::string summary_text(const Summary& summary);

nlohmann::ordered_json summary_json(const Summary& summary);

}  // namespace retrystorm
