// What a run reports, and the interface of those that receive it: logs, JSON, a screen, a page, a
// test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "model/base/duration.h"
#include "model/retry/retry_policy.h"
#include "model/run/connections.h"
#include "model/run/counts.h"
#include "model/run/graph_report.h"
#include "model/run/host_report.h"
#include "model/run/recovery.h"
#include "model/run/request_trace.h"
#include "model/run/run_phases.h"
#include "model/run/workload.h"
#include "model/service/service_observer.h"

namespace retrystorm {

// How a run went since the last report.
struct RunInterval {
  Duration t{0};  // end of the interval, since the start
  Rates rates{};
  Counts totals{};  // since the start
  ClientStates clients{};
  LatencyQuantiles latency{};            // of the interval's OK attempts
  std::string outage{};                  // the current outage; empty: none
  Verdict verdict = Verdict::kNoOutage;  // so far
};

enum class OutageEvent { kBegin, kEnd };

// How well an engine that needs threads kept to the times of open arrivals.
struct ArrivalLag {
  std::uint64_t dropped_arrivals = 0;  // no thread was free: nothing was sent or counted
  Duration latest_start{0};            // the longest delay before a request began
  std::uint64_t late_starts = 0;  // requests that began so late that it changes what is measured

  static constexpr Duration kLate = std::chrono::milliseconds(50);
};

// The results of a whole run.
struct Summary {
  std::string title{};                           // of the retries: see `retries_title`
  std::string outage{};                          // the last outage; empty: none
  std::optional<std::size_t> failed_commands{};  // if the outage was made by commands
  std::optional<std::size_t> failed_orders{};    // to the server, where any could be given
  std::size_t clients = 0;
  std::size_t processes = 0;                // see `sharing_processes`
  double arrival_rate = 0;                  // requests per second, for open arrivals; otherwise 0
  std::string arrivals{};                   // the text of their plan; empty: always at that rate
  std::optional<ArrivalLag> arrival_lag{};  // of an engine with threads
  std::uint64_t seed = 0;
  Duration elapsed{0};
  Counts counts{};
  Recovery recovery{};
  RunLatencies latencies{};
  std::optional<RunPhases> phases{};  // if there was an outage
  RetryMetrics retry_metrics{};
  Duration longest_without_ok{0};  // of any single client
  std::string first_error{};  // why it failed, in words; empty if there is none or it is not known
  bool paced = false;         // true if the clients paced themselves
  std::optional<JobResult> job{};
  std::optional<ReconnectResult> reconnect{};  // if the outage was one of connections
  std::optional<GraphResult> graph{};          // of services behind services
  std::optional<HostsResult> hosts{};          // of a service that has several
  std::optional<KeptConnections> kept{};       // at the end, if connections are kept
  std::optional<FoundOnWaking> on_waking{};    // if the service was frozen and the engine sees it
  // What the service provided and admitted. Only if it has a rate limit and the engine sees it.
  std::optional<ProvisionedCapacity> capacity{};

  // The share of the requests that `success_share` leaves out, with those that found no thread, and of the calls that a
  // job still has to make.
  double left_out_share() const {
    const std::uint64_t all = job && !job->makespan ? job->calls()
                              : arrival_lag ? counts.requests + arrival_lag->dropped_arrivals
                                            : counts.requests;
    const double left_out = counts.left_out_share();
    if (all == 0) return left_out;
    return 1 - (1 - left_out) * static_cast<double>(counts.requests) / static_cast<double>(all);
  }

  // The part of it that may end otherwise than the rest. Clients that wait for their answers leave out no more than
  // one request each, however long the run is, unless so many hang that nobody knows the p99. 1 if there was no request.
  double doubtful_share() const {
    if (arrival_rate > 0 || job) return left_out_share();
    if (counts.requests == 0) return 1;
    const auto p99 = latencies.requests().quantile(0.99);
    return !p99 || p99->or_more ? left_out_share() : 0;
  }

  // The requests per second of each of the processes, on average.
  double process_rate() const {
    return processes == 0 ? 0 : rates(counts, elapsed).requests / static_cast<double>(processes);
  }
};

// Receives the events of a run, in order, on the engine's thread. By default all are ignored.
class RunObserver {
 public:
  virtual ~RunObserver() = default;

  virtual void on_interval(const RunInterval&) {}
  // `what`: the outage, printed by `print_disturbance`.
  virtual void on_outage(Duration /*t*/, OutageEvent, const std::string& /*what*/) {}
  // An action of the timeline. `what` is printed by `print_action`.
  virtual void on_action(Duration /*t*/, const std::string& /*what*/) {}
  // The hosts of a service that has several, at the end of each interval.
  virtual void on_hosts(Duration /*t*/, const HostIntervals&) {}
  // Services behind services, every five seconds.
  virtual void on_graph(const GraphShape&, const GraphInterval&) {}
  // A traced request, once it is finished.
  virtual void on_request(const TracedRequest&) {}
  virtual void on_summary(const Summary&) {}
};

}  // namespace retrystorm
