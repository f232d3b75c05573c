// The course of a run as both engines tell it: lines, JSON Lines, outages, verdict.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <ostream>

#include "common/counts.h"
#include "common/duration.h"
#include "common/json_lines.h"
#include "common/live_screen.h"
#include "common/recovery.h"
#include "common/report.h"

namespace retrystorm {

// One clock rotates the windows and prints them. The engine asks when that is due, and hands over
// its totals at that time. Not for use from two threads at once.
class RunRecorder {
 public:
  // Where the course is told. A null pointer tells nothing; what is not null outlives the recorder.
  struct Outputs {
    std::ostream* lines = nullptr;
    JsonLines* json = nullptr;
    LiveScreen<ClientView>* screen = nullptr;  // instead of the lines of the intervals
    // Is told what the file is told, but the intervals each second.
    std::function<void(const nlohmann::ordered_json&)> observer = nullptr;
  };

  static constexpr Duration kObserverInterval = std::chrono::seconds(1);

  RunRecorder(TimePoint start, Duration report_interval, const Outputs& outputs);

  // When `tick` is due.
  TimePoint next_tick() const;

  // Reports what is due at `now`.
  void tick(TimePoint now, const Counts& totals, const ClientStates& clients);

  void outage_begins(TimePoint now, const Counts& totals);
  void outage_ends(TimePoint now, const Counts& totals);
  bool in_outage() const { return tracker_.in_outage(); }

  // As things stand.
  Recovery recovery() const { return tracker_.recovery(); }

  // The run ends: the verdict.
  Recovery end(TimePoint now, const Counts& totals);

  // Tells the summary, once everything in it is known.
  void summarize(const Summary& summary);

 private:
  // What comes again and again: when it is due, and what stood at the last time.
  struct Period {
    Duration length;
    TimePoint due, last;
    Counts reported;

    Period(TimePoint start, Duration interval);
    // The rates since the last time; takes up the next one.
    Rates rotate(TimePoint now, const Counts& totals);
  };

  void tell(const nlohmann::ordered_json& event) const;

  const Outputs outputs_;
  const TimePoint start_;
  Period report_, observation_;
  RecoveryTracker tracker_;
};

}  // namespace retrystorm
