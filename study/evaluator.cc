#include "study/evaluator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "model/base/duration.h"
#include "model/base/text.h"
#include "model/run/recovery.h"

namespace retrystorm {

std::size_t threads_or_cores(std::size_t threads) {
  return threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
}

void run_on_threads(std::size_t threads, const std::function<void()>& work,
                    const std::function<void()>& abandon) {
  std::mutex mutex;
  std::exception_ptr failure;
  const auto fail = [&](const std::exception_ptr& error) {
    {
      const std::scoped_lock lock(mutex);
      if (!failure) failure = error;
    }
    abandon();
  };
  const auto work_that_may_fail = [&] {
    try {
      work();
    } catch (...) {
      fail(std::current_exception());
    }
  };
  {
    // Held until all threads have started. Otherwise runs could take the memory that further
    // threads need, and fail first with an error that does not name the cause.
    std::mutex starting;
    std::vector<std::thread> others;
    std::unique_lock until_all_are_there(starting);
    try {
      for (std::size_t i = 1; i < threads; ++i) {
        others.emplace_back([&] {
          { const std::scoped_lock wait(starting); }
          work_that_may_fail();
        });
      }
    } catch (const std::exception& error) {
      const std::string what = "cannot start " + std::to_string(threads) + " threads";
      fail(std::make_exception_ptr(std::runtime_error(what + " (see --threads): " + error.what())));
    }
    until_all_are_there.unlock();
    work_that_may_fail();
    for (std::thread& each : others) each.join();
  }
  if (failure) std::rethrow_exception(failure);
}

Seeds seeds_from(std::uint64_t first, std::size_t count) {
  Seeds seeds(count);
  std::iota(seeds.begin(), seeds.end(), first);
  return seeds;
}

bool Evaluator::run(std::size_t cells, const std::function<Scenario(std::size_t)>& scenario,
                    const Seeds& seeds,
                    const std::function<void(std::size_t, const std::vector<RunResult>&)>& done,
                    const std::function<void(const RunResult&)>& ran,
                    const std::function<SimulationObservers(std::size_t)>& observers) const {
  // A cell with unfinished runs. All its runs share one scenario, because making one can take as
  // long as a short run. (No std::call_once: with clang's thread sanitizer it hangs forever after an
  // exception.)
  struct Cell {
    std::mutex making;
    std::optional<Scenario> scenario;
    std::vector<RunResult> results;
    std::size_t missing = 0;
    // The first run that was cut. Later ones are not made, or not looked at: they would take as long. Runs begin in their
    // order, so the first one that is to be cut is always made.
    std::size_t cut = std::numeric_limits<std::size_t>::max();
  };
  std::mutex mutex;
  std::map<std::size_t, Cell> open;
  std::size_t runs = 0;
  const auto make = [&](std::size_t task) {
    const std::size_t number = task / seeds.size(), run = task % seeds.size();
    std::unique_lock lock(mutex);
    Cell& cell = open[number];
    if (cell.results.empty()) {
      cell.results.resize(seeds.size());
      cell.missing = seeds.size();
    }
    const bool is_skipped = run > cell.cut;
    lock.unlock();
    std::unique_lock making(cell.making);
    if (!cell.scenario) cell.scenario = scenario(number);
    making.unlock();
    RunResult result;
    if (!is_skipped) {
      Scenario one = *cell.scenario;
      one.seed = seeds[run];
      const auto of_run = observers ? observers(run) : SimulationObservers{};
      result = result_of(Simulation(one, of_run).run(stop_));
    }
    lock.lock();
    if (stopped()) return;  // the result may be that of an interrupted run
    if (result.cut) cell.cut = std::min(cell.cut, run);
    cell.results[run] = result;
    ++runs;
    if (--cell.missing == 0) {
      for (std::size_t i = cell.cut; i < seeds.size(); ++i)
        cell.results[i] = cell.results[cell.cut];
      done(number, cell.results);
      open.erase(number);
    }
    if (ran) ran(result);
  };
  const std::size_t tasks = cells * seeds.size();
  std::atomic<std::size_t> next{0};
  run_on_threads(
      std::min(threads_, tasks),
      [&] {
        for (std::size_t i = next++; i < tasks && !stopped(); i = next++) make(i);
      },
      [&] { next = tasks; });
  return runs == tasks;
}

std::vector<RunResult> Evaluator::run(
    const Scenario& scenario, const Seeds& seeds,
    const std::function<SimulationObservers(std::size_t)>& observers) const {
  std::vector<RunResult> results;
  run(
      1, [&](std::size_t) { return scenario; }, seeds,
      [&](std::size_t, const std::vector<RunResult>& runs) { results = runs; }, nullptr, observers);
  return results;
}

std::optional<CellResult> Evaluator::summary(const ScenarioOptions& options, std::uint64_t seed,
                                             std::size_t runs) const {
  const auto results = run(make_scenario(options, seed), seeds_from(seed, runs));
  return results.empty() ? std::nullopt : std::optional(summarize(results));
}

namespace {

void check_memory(const Scenario& scenario, std::size_t at_once, double there) {
  const double needed = memory_needed(scenario) * static_cast<double>(at_once);
  if (needed <= 0.9 * there) return;
  const auto gigabytes = [](double bytes) { return print_number(std::round(bytes / 1e8) / 10); };
  throw std::runtime_error("this needs about " + gigabytes(needed) +
                           " GB of memory, but there are only " + gigabytes(std::max(there, 0.0)) +
                           ": choose a smaller --scale, a shorter --observe, fewer --runs or fewer "
                           "--threads");
}

void check_length(const Scenario& scenario) {
  constexpr Duration kLongest = std::chrono::hours(100'000);
  if (scenario.length <= kLongest) return;
  refuse("the run is too long: at most " + format_duration(kLongest) +
         " from its start to the end of --observe");
}

void check_verdict(const Scenario& scenario) {
  if (!scenario.outage_at) return;
  constexpr Duration kBefore = RecoveryTracker::kWindow, kAfter = RecoveryTracker::kLeastAfter;
  const Duration after = scenario.length - *scenario.outage_at - scenario.outage_for;
  if (*scenario.outage_at >= kBefore && after >= kAfter) return;
  refuse("the verdicts of many runs need an --outage-at of at least " + format_duration(kBefore) +
         " and an --observe of at least " + format_duration(kAfter));
}

}  // namespace

Scenario checked_scenario(const ScenarioOptions& options, std::uint64_t seed, std::size_t at_once,
                          double there, bool with_verdict) {
  Scenario scenario = make_scenario(options, seed);
  check_length(scenario);
  if (with_verdict) check_verdict(scenario);
  check_memory(scenario, at_once, there);
  return scenario;
}

}  // namespace retrystorm
