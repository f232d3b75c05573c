// What is printed before the runs: the seed, and what can be said by arithmetic.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/cli/program.h"
#include "model/run/run_observer.h"
#include "simulate/options.h"
#include "simulator/scenario_options.h"

namespace retrystorm {

// Adds the options whose values differ from those of `asked`: what is swept, what a swept strategy brings, and what
// kinds of clients set.
void add_set(std::vector<std::string>& names, const ScenarioOptions& asked,
             const ScenarioOptions& run);

// What can be said by arithmetic of a run.
struct BeforeRun {
  std::string line{};
  Statements warnings{};
  std::string assumed{};           // see `assumed_list`
  nlohmann::ordered_json start{};  // the options, and this, for the first line of JSON
};

// `asked` has a seed. `set`: options that need not be given.
BeforeRun before_run(const Invocation& invocation, const ScenarioOptions& asked,
                     const ScenarioOptions& run, std::vector<std::string> set);
// Prints the line and the warnings, unless --quiet is among the options.
void tell(const SimulatorOptions& options, const BeforeRun& before);

// "timeout 2 s, backlog 256, new connections": of the options on which an answer hangs most those that were not given.
std::string defaults_that_matter(const Invocation& invocation, const ScenarioOptions& run);

// Prints to standard output what can be said by arithmetic of these options, and what was assumed. Nothing is run.
void print_arithmetic(const Invocation& invocation, const SimulatorOptions& asked);

// Notes about a run for the person who started it: when the outage begins and ends.
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
