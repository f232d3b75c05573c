// One run of the experiment in virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "model/run/request_trace.h"
#include "model/run/run_recorder.h"
#include "model/service/service_interval.h"
#include "simulator/clients.h"
#include "simulator/event_loop.h"
#include "simulator/scenario.h"
#include "simulator/server_node.h"

namespace retrystorm {

// Who is told a run while it goes on. All outlive it.
struct SimulationObservers {
  std::vector<RunObserver*> run{};
  std::vector<ServiceObserver*> service{};
};

struct SimulationResult {
  Summary summary;
  std::size_t peak_concurrency = 0;
  std::uint64_t events = 0;  // ends of waits, timeouts, SYN repeats, departures, reports
};

// Wires clients to a server, makes the changes at their times, and has both reported. Networks and
// processors take no time. Not for use from two threads at once.
class Simulation {
 public:
  Simulation(const Scenario& scenario, const SimulationObservers& observers);

  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Once. Ends early, with what there is, when `stop` (if any) returns true; it is asked now and
  // then.
  SimulationResult run(const std::function<bool()>& stop = nullptr);

 private:
  TimePoint next_control() const;
  void control(TimePoint now);
  RequestTrace* trace() { return trace_ ? &*trace_ : nullptr; }
  void report_server(TimePoint now);
  TimePoint next_change() const;
  void apply(TimePoint now, const Change& change);

  const Scenario scenario_;
  const SimulationObservers observers_;
  const TimePoint end_;
  EventLoop loop_;
  std::optional<RequestTrace> trace_;
  Clients clients_;
  ServerNode server_;

  std::size_t changes_done_ = 0;
  TimePoint control_at_{};  // when a report, a change or the end is due
  RunRecorder recorder_;
  TimePoint server_report_at_, server_reported_at_{};
};

}  // namespace retrystorm
