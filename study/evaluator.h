// Runs scenarios, each with many seeds, on several threads, and hands over the results of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "simulator/scenario_options.h"
#include "simulator/simulation.h"
#include "study/cell_result.h"

namespace retrystorm {

// Calls `work` on `threads` threads, including the caller's, once all have been started. Waits for
// all of them. If one throws, or if a thread cannot be started, calls `abandon`, which must make
// the others return soon. Then throws the first exception, or std::runtime_error with a readable
// message if a thread could not be started.
void run_on_threads(std::size_t threads, const std::function<void()>& work,
                    const std::function<void()>& abandon);

// Returns `threads`, or the number of cores if it is 0.
std::size_t threads_or_cores(std::size_t threads);

using Seeds = std::vector<std::uint64_t>;

// `count` consecutive seeds from `first`.
Seeds seeds_from(std::uint64_t first, std::size_t count);

// The results do not depend on the number of threads. Where a run was cut (`SimulationResult`), later ones of the
// same scenario are taken to end like it. The functions passed in may be called from
// several threads at once, unless stated otherwise. If one of them throws, the work is abandoned
// and the exception is rethrown.
class Evaluator {
 public:
  // The work ends early if `stop` is set and returns true.
  explicit Evaluator(std::size_t threads, std::function<bool()> stop = nullptr)
      : threads_(threads), stop_(std::move(stop)) {}

  // Runs each of `cells` cells with each of the seeds. `done` gets the results of a cell, in the
  // order of the seeds. After every run, `ran` gets its result. Both are called from
  // one thread at a time. `observers` returns the observers of a run, by the index of its seed. Returns true if all
  // cells were finished.
  bool run(std::size_t cells, const std::function<Scenario(std::size_t cell)>& scenario,
           const Seeds& seeds,
           const std::function<void(std::size_t cell, const std::vector<RunResult>&)>& done,
           const std::function<void(const RunResult&)>& ran = nullptr,
           const std::function<SimulationObservers(std::size_t run)>& observers = nullptr) const;

  // The results of one scenario, in the order of the seeds. Empty if the work was stopped.
  std::vector<RunResult> run(
      const Scenario& scenario, const Seeds& seeds,
      const std::function<SimulationObservers(std::size_t run)>& observers = nullptr) const;
  // What they come to, with seeds from `seed` on. Nothing if the work was stopped.
  std::optional<CellResult> summary(const ScenarioOptions& options, std::uint64_t seed,
                                    std::size_t runs) const;

 private:
  bool stopped() const { return stop_ && stop_(); }

  const std::size_t threads_;
  const std::function<bool()> stop_;
};

// The scenario with these options. Throws, with a readable message, std::runtime_error if `at_once` runs at a time need
// more than `there` bytes of memory, and std::invalid_argument if the run is longer than 100,000 hours, or `with_verdict`,
// if its runs cannot have one: their table would look as if none collapsed.
Scenario checked_scenario(const ScenarioOptions& options, std::uint64_t seed, std::size_t at_once,
                          double there, bool with_verdict);

}  // namespace retrystorm
