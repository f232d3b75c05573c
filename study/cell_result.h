// The results of many runs of one cell, summarized.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/simulation.h"
#include "study/run_result.h"
#include "study/statistics.h"

namespace retrystorm {

// Null if there are none with this name.
const ClientsFigures* find_clients(const std::vector<ClientsFigures>& clients,
                                   std::string_view name);

RunResult result_of(const SimulationResult& run);

// All runs of one cell: its figures are what `OfMany` makes of theirs.
struct CellResult : RunResult {
  std::size_t runs = 0;
  bool alike = false;            // several runs whose figures do not differ
  double misses = kUsualMisses;  // of its intervals
  // Runs by verdict. They add up to `runs`.
  std::size_t no_outage = 0, recovered = 0, relapsed = 0, recovering = 0, undecided = 0,
              collapsed = 0;
  std::size_t cut_runs = 0;  // of all these, or taken to end like one that was
  bool had_outage() const {
    return no_outage == 0 && recovered + relapsed + recovering + undecided + collapsed > 0;
  }
  // The runs that were down at the end, and those that have a verdict. Without an outage a run is up
  // unless it collapsed by itself.
  std::size_t down_runs() const { return collapsed + relapsed; }
  std::size_t decided() const { return no_outage + recovered + relapsed + recovering + collapsed; }
  bool mostly_down() const { return is_majority(down_runs(), decided()); }
  bool mostly_not_back() const { return is_majority(down_runs() + recovering, decided()); }
  // Were most requests of the calm not answered in it? Then OK/s that are back say little.
  bool unserved() const;
  // Is it back, and yet most requests after the outage fail, or are not answered by the end?
  bool back_in_vain() const;
  // Is it a job that some run did not end in time?
  bool has_open_jobs() const { return jobs > jobs_done; }
  // A run that is still recovering may come back or not. So the interval reaches to where all of
  // them are down.
  std::optional<Share> down() const;
  // "recovering" or "undecided", to be shown instead of a share, if no run came back or stayed down.
  std::string_view unsettled() const;
  // What is shown instead of the time after which this share of the runs is back, if there is none:
  // "never" if too many are down, otherwise "not yet", and "-" if no run has a verdict.
  std::string_view not_back(double share) const;
  // Set if no run can come back, however long it is observed: what the service can answer of its load.
  std::string held{};
  std::size_t queued = 0;               // the runs with a `queue_wait`
  std::size_t jobs = 0, jobs_done = 0;  // of jobs: the runs, and those that were done
  double died_first_share = 0;          // of all runs, in which `died_first` did
  std::optional<Duration> errors_gone_p90{}, recovery_p90{}, all_back_p90{};
  std::optional<TimeInterval> recovery_interval{}, makespan_interval{};  // of the medians
  std::optional<Interval> amplification_interval{}, success_interval{};  // of the means
};

// `misses`: how often its intervals may miss. Where `unfinished` is a percent or more, the interval of
// the mean of `success_share` reaches down to where all of these fail.
CellResult summarize(const std::vector<RunResult>& runs, double misses = kUsualMisses);

}  // namespace retrystorm
