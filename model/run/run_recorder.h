// The course of a run as every engine tells it to its observers: intervals, outages, verdict.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/base/duration.h"
#include "model/run/counts.h"
#include "model/run/recovery.h"
#include "model/run/run_observer.h"

namespace retrystorm {

// One clock rotates the windows and tells them. The engine asks when that is due, and hands over
// its totals at that time. Not for use from two threads at once.
class RunRecorder {
 public:
  explicit RunRecorder(TimePoint start) : start_(start), tracker_(start) {}

  // From now on `observer` is told the run, an interval each `period`. It outlives the recorder.
  // Before the first `tick`.
  void add(RunObserver& observer, Duration period);

  // When `tick` is due.
  TimePoint next_tick() const;

  // Tells what is due at `now`.
  void tick(TimePoint now, const Counts& totals, const ClientStates& clients,
            const RunLatencies& latencies);

  // `what` befalls the service, as `print_disturbance` has it.
  void outage_begins(TimePoint now, const Counts& totals, const std::string& what);
  void outage_ends(TimePoint now, const Counts& totals);
  // Something is done, as `print_action` has it.
  void action(TimePoint now, const std::string& what);
  bool in_outage() const { return tracker_.in_outage(); }

  // What befell the service last; empty: nothing.
  const std::string& outage() const { return outage_; }

  // As things stand.
  Recovery recovery() const { return tracker_.recovery(); }

  // Tells requests that were followed.
  void tell(const std::vector<TracedRequest>& requests);

  // The run ends: the verdict.
  Recovery end(TimePoint now, const Counts& totals);

  // Tells the summary, once everything in it is known.
  void summarize(const Summary& summary);

 private:
  // Who listens, when its next interval is over, and what stood at the last one.
  struct Listener {
    RunObserver* observer;
    Duration period;
    TimePoint due, last;
    Counts told;
    LatencyHistogram told_latencies;  // of OK attempts

    // What happened since the last time; takes up the next interval.
    RunInterval rotate(TimePoint now, const Counts& totals, const LatencyHistogram& latencies);
  };

  const TimePoint start_;
  std::vector<Listener> listeners_;
  RecoveryTracker tracker_;
  std::string outage_;
  std::optional<Verdict> verdict_;  // as of the last window, if anybody was told it
};

}  // namespace retrystorm
