// What a run tells of itself, and whoever listens: lines, JSON, a screen, a page, a test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "model/base/duration.h"
#include "model/retry/retry_policy.h"
#include "model/run/counts.h"
#include "model/run/job.h"
#include "model/run/recovery.h"
#include "model/run/request_trace.h"
#include "model/run/run_latencies.h"
#include "model/service/service_interval.h"

namespace retrystorm {

// How a run went since the last time it was told.
struct RunInterval {
  Duration t{0};  // since the start: where the interval ends
  Rates rates{};
  Counts totals{};  // since the start
  ClientStates clients{};
  LatencyQuantiles latency{};            // of the interval's OK attempts
  std::string outage{};                  // what befalls the service now; empty: nothing
  Verdict verdict = Verdict::kNoOutage;  // so far
};

enum class OutageEvent { kBegin, kEnd };

// How an engine whose requests need threads kept to the times at which they come from outside.
struct Punctuality {
  std::uint64_t dropped_arrivals = 0;  // found no thread: nothing was sent, no request is counted
  Duration latest_start{0};            // so late a request began, at the worst
};

// A whole run.
struct Summary {
  std::string strategy{};                        // the name of the settings
  std::string outage{};                          // what befell the service last; empty: nothing
  std::optional<std::size_t> failed_commands{};  // where commands were it
  std::size_t clients = 0;
  double arrival_rate = 0;  // requests a second, where they come from outside instead of clients
  std::optional<Punctuality> punctuality{};  // of such an engine
  std::uint64_t seed = 0;
  Duration elapsed{0};
  Counts counts{};
  Recovery recovery{};
  RunLatencies latencies{};
  RetryMetrics retry_metrics{};
  Duration longest_without_ok{0};  // of any single client
  bool paced = false;              // did the clients pace themselves?
  std::optional<JobResult> job{};
  // What the service provided and let in, where it has a rate limit and is seen.
  std::optional<ProvisionedCapacity> capacity{};
};

// Is told a run on the thread of its engine, in order. What it does not want to know it ignores.
class RunObserver {
 public:
  virtual ~RunObserver() = default;

  virtual void on_interval(const RunInterval&) {}
  // `what` befalls the service, as `print_disturbance` has it.
  virtual void on_outage(Duration /*t*/, OutageEvent, const std::string& /*what*/) {}
  // Something was done about it, as `print_action` has it.
  virtual void on_action(Duration /*t*/, const std::string& /*what*/) {}
  // A request that is followed, once nothing more will be known of it.
  virtual void on_request(const TracedRequest&) {}
  virtual void on_summary(const Summary&) {}
};

}  // namespace retrystorm
