// Notes about a simulated run for the person who started it: when the outage begins and ends.
#pragma once

#include <functional>
#include <string>

#include "model/run/run_observer.h"
#include "simulator/scenario_options.h"

namespace retrystorm {

class RunNotes final : public RunObserver {
 public:
  // `options` must outlive the notes. `note` prints a line.
  RunNotes(const ScenarioOptions& options, std::function<void(const std::string&)> note)
      : options_(options), note_(std::move(note)) {}

  void on_outage(Duration t, OutageEvent event, const std::string& what) override;
  void on_action(Duration t, const std::string& what) override;

 private:
  const ScenarioOptions& options_;
  const std::function<void(const std::string&)> note_;
};

}  // namespace retrystorm
