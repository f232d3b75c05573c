// A run of the client: the one clock that reports, freezes, wakes and ends.
#pragma once

#include <memory>
#include <ostream>

#include "client/fleet.h"
#include "client/options.h"
#include "client/outage.h"
#include "common/json_lines.h"
#include "common/live_screen.h"
#include "common/process.h"
#include "common/run_recorder.h"

namespace retrystorm {

class Experiment {
 public:
  // `out` gets the lines and the summary. The references outlive the experiment.
  Experiment(const ClientOptions& options, std::uint64_t seed, Fleet& fleet, JsonLines& json,
             std::ostream& out);

  // Runs until the duration is over or a signal comes, then stops the fleet and prints the
  // summary. `server` may be null: then there is no outage.
  void run(const EndSignals& signals, ServerProcess* server);

 private:
  void freeze();
  void wake();
  void finish();
  TimePoint next_event() const;

  const ClientOptions& options_;
  const std::uint64_t seed_;
  Fleet& fleet_;
  ServerProcess* server_ = nullptr;

  TimePoint start_, end_;
  TimePoint freeze_at_ = TimePoint::max();
  TimePoint wake_at_ = TimePoint::max();
  const std::unique_ptr<LiveScreen<ClientView>> screen_;
  RunRecorder recorder_;
};

}  // namespace retrystorm
