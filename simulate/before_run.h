// What is printed before the runs: the seed, and what can be said by arithmetic.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/cli/program.h"
#include "model/run/run_observer.h"
#include "simulate/options.h"
#include "simulator/scenario_options.h"
#include "study/sweep.h"

namespace retrystorm {

// The options whose values differ from those of `asked`: what is swept, and what a swept strategy
// brings.
void add_different(std::vector<std::string>& names, ScenarioOptions asked, ScenarioOptions run);

// Prints a line about a run with these options, and warnings, and adds what can be said by arithmetic to the first line
// of JSON. Returns what was assumed (see `assumed_list`).
std::string tell_before(const Invocation& invocation, const SimulatorOptions& asked,
                        const ScenarioOptions& run, nlohmann::ordered_json& start,
                        const std::vector<std::string>& swept = {});

// The same for the rows of a table with so many runs each. Of many rows, that of the first and the last.
std::string tell_before(const Invocation& invocation, const SimulatorOptions& asked,
                        const nlohmann::ordered_json& start, const Grid& grid,
                        const std::function<ScenarioOptions(std::size_t cell)>& options_of,
                        std::size_t runs);

// "timeout 2 s, backlog 256, new connections": of the options on which an answer hangs most those that were not given.
std::string defaults_that_matter(const Invocation& invocation, const ScenarioOptions& run);

// Prints to standard output what can be said by arithmetic of these options, and what was assumed. Nothing is run.
void print_arithmetic(const Invocation& invocation, const SimulatorOptions& asked);

// "strategy=fixed, timeout=2s"
std::string row_name(const Grid& grid, std::size_t cell);

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
