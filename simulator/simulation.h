// One run of the experiment in virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/base/duration.h"
#include "model/run/request_trace.h"
#include "model/run/run_recorder.h"
#include "model/service/service_observer.h"
#include "simulator/clients.h"
#include "simulator/event_loop.h"
#include "simulator/graph/graph.h"
#include "simulator/hosts.h"
#include "simulator/reconnects.h"
#include "simulator/scenario.h"

namespace retrystorm {

// Receive the events of a run while it goes on. All must outlive it.
struct SimulationObservers {
  std::vector<RunObserver*> run{};
  std::vector<ServiceObserver*> service{};
  PlacesObserver places{};  // at the times of the run's intervals; empty: nobody asks
};

// How the clients of a run retry. Where only services behind them do, it says so, too.
std::string callers_title(const Scenario& scenario);

struct SimulationResult {
  Summary summary;
  std::size_t peak_concurrency = 0;
  bool peak_is_bound = false;  // by --max-connections
  std::uint64_t events = 0;    // ends of waits, timeouts, SYN repeats, departures, reports
  bool cut = false;            // before its end: see `Simulation::run`
};

// Connects clients to a server, applies the changes at their times, and reports on both. Networks
// and processors take no time. Not thread-safe.
class Simulation {
 public:
  Simulation(const Scenario& scenario, const SimulationObservers& observers);

  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Call once. Ends early if `stop` (if any) returns true, with the results so far. `stop` is only
  // called occasionally. A run of clients that ask again at once wherever they are refused would take for ever.
  // It is cut where two million attempts failed, and 100 more for each client and second of its length: it has
  // no verdict then, and says why.
  SimulationResult run(const std::function<bool()>& stop = nullptr);

 private:
  TimePoint next_control() const;
  void control(TimePoint now);
  Calls& calls() { return clients_.calls(); }
  // Of clients of all kinds.
  template <typename Use>
  void for_all_clients(const Use& use) {
    use(clients_);
    for (const auto& each : others_) use(*each);
  }
  std::vector<Calls*> calls_of_all();
  Counts totals() const;
  bool fails_for_ever() const;
  // `clients_`'s own, or the sum.
  const RunLatencies& latencies();
  // Completes the summary with what is known of the clients.
  void add_clients(TimePoint now, Summary& summary);
  TimePoint next_of_others();
  void take_other(TimePoint now);
  RequestTrace* trace() { return trace_ ? &*trace_ : nullptr; }
  ClientStates states() const;
  std::vector<AttemptPlaces> places();
  void report_server(TimePoint now);
  TimePoint next_change() const;
  TimePoint next_load_step() const {
    return load_steps_.empty() ? EventLoop::kNever : TimePoint{} + load_steps_.front().t;
  }
  // The load of the last change and of the file of rates, on the clients.
  void set_load(TimePoint now);
  // Of the service with this number.
  Hosts& hosts_of(std::size_t node) { return graph_ ? graph_->hosts(node) : hosts_; }
  // Those that have the outage.
  const Hosts& disturbed_hosts() const {
    return graph_ ? graph_->hosts(scenario_.disturbed) : hosts_;
  }
  void apply(TimePoint now, const Change& change);
  // The recorder knows what hosts with these settings can do.
  void note_capacity(const ServiceOptions& service);
  // Freezes and stops a service, or ends that. Disturbances of the same kind may overlap.
  void begin(TimePoint now, const Change& change);
  void end(TimePoint now, const Change& change);

  const Scenario scenario_;
  const SimulationObservers observers_;
  const TimePoint end_;
  EventLoop loop_;
  std::optional<RequestTrace> trace_;
  Clients clients_;
  std::vector<std::unique_ptr<Clients>> others_{};  // where there are several kinds
  std::optional<RunLatencies> latencies_of_all_{};  // likewise
  const std::unique_ptr<Reconnects> reconnects_;    // null if no connections are lost
  const std::unique_ptr<Graph> graph_;              // null if there is one service
  Hosts hosts_;                                     // of the one service, or of the first one
  std::map<std::pair<std::size_t, Disturbance::Kind>, int> under_way_;  // disturbances of a service

  std::size_t changes_done_ = 0;
  std::span<const ArrivalStep> load_steps_;  // that are to come
  double planned_load_ = 1, load_ = 1, load_beside_ = 1;
  TimePoint control_at_{};  // when the next report, change or end is due
  RunRecorder recorder_;
  TimePoint server_report_at_, server_reported_at_{};
  TimePoint hosts_report_at_;  // never with one host
};

}  // namespace retrystorm
