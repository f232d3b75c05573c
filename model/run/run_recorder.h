// Records a run and reports it to its observers in the same way for every engine: intervals,
// outages, verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/base/duration.h"
#include "model/run/counts.h"
#include "model/run/recovery.h"
#include "model/run/run_observer.h"
#include "model/run/run_phases.h"
#include "model/run/workload.h"

namespace retrystorm {

// Are there windows of the verdict in which none of these requests arrives?
inline bool pauses(const WorkloadOptions& workload) {
  const Duration period = workload.plan.period;
  return period > RecoveryTracker::kWindow && workload.splay < period;
}

// Rotates the windows of the verdict and of the reports. The engine asks when the next tick is due,
// and passes its totals then. Not thread-safe.
class RunRecorder {
 public:
  explicit RunRecorder(TimePoint start) : start_(start), tracker_(start), phase_totals_(start) {}

  // Adds an observer, which gets an interval every `period`. It must outlive the recorder. Call
  // before the first `tick`.
  void add(RunObserver& observer, Duration period);

  // When the next `tick` is due.
  TimePoint next_tick() const;

  // Reports what is due at `now`. `waiting`: the requests that wait for a worker of the service;
  // nothing if the engine does not see it.
  void tick(TimePoint now, const Counts& totals, const ClientStates& clients,
            const RunLatencies& latencies, std::optional<std::size_t> waiting = std::nullopt);

  // `what`: the outage, printed by `print_disturbance`.
  void outage_begins(TimePoint now, const Counts& totals, const std::string& what);
  void outage_ends(TimePoint now, const Counts& totals);
  // An action of the timeline. `what` is printed by `print_action`. Empty: a further step of a ramp, which is not
  // reported.
  void action(TimePoint now, const std::string& what, Lasting leaves);
  // A disturbance besides the outage. `what` is printed by `print_disturbance`, perhaps with "of NAME".
  void fault_begins(TimePoint now, const std::string& what);
  void fault_ends(TimePoint now, const std::string& what);
  // The factor on the load that clients of this kind offer, without that of the outage.
  void set_load(TimePoint now, double load, const WorkloadOptions& workload);
  // See `RecoveryTracker`.
  void set_capacity(double capacity) { tracker_.set_capacity(capacity); }
  // More was changed than the outage's end mends.
  void note_change() { tracker_.note_change(); }
  bool in_outage() const { return tracker_.in_outage(); }

  // The last outage. Empty if there was none.
  const std::string& outage() const { return outage_; }

  // The result so far.
  Recovery recovery() const { return tracker_.recovery(); }

  // Reports the hosts of a service.
  void report_hosts(TimePoint now, const HostIntervals& hosts);

  // Reports services behind services.
  void report_graph(const GraphShape& names, const GraphInterval& interval);

  // Reports traced requests.
  void report_requests(const std::vector<TracedRequest>& requests);

  // Ends the run. Returns the verdict.
  Recovery end(TimePoint now, const Counts& totals,
               std::optional<std::size_t> waiting = std::nullopt);

  // What happened before, during and after the outage. Nothing without one. Call it after `end`.
  std::optional<RunPhases> phases(const RunLatencies& latencies) const;

  // Reports the summary, with what the state of the hosts says of a service that is down. Call it once the summary is complete.
  void summarize(Summary summary);

 private:
  void report_action(TimePoint now, const std::string& what);

  // An observer, when its next interval ends, and the totals of its last report.
  struct Listener {
    RunObserver* observer;
    Duration period;
    TimePoint due, last;
    Counts reported;
    LatencyHistogram reported_latencies;  // of OK attempts

    // Returns what happened since the last report, and starts the next interval.
    RunInterval rotate(TimePoint now, const Counts& totals, const LatencyHistogram& latencies);
  };

  const TimePoint start_;
  std::vector<Listener> listeners_;
  RecoveryTracker tracker_;
  PhaseTotals phase_totals_;
  std::string outage_;
  std::optional<Verdict> verdict_;  // of the last window, if it was needed
  std::size_t most_workers_ = 0;    // of a job
};

}  // namespace retrystorm
