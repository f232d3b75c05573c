// The results of many runs of one cell, summarized.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/duration.h"
#include "model/base/latency.h"
#include "model/retry/retry_on.h"
#include "model/run/recovery.h"
#include "model/run/run_phases.h"
#include "simulator/simulation.h"
#include "study/statistics.h"

namespace retrystorm {

// What happened before, during or after the outage. Of many runs these are means, and of the times
// medians. Empty without an outage, and `success` also if no request began in that phase.
struct PhaseResult {
  std::optional<double> success{}, gave_up{};  // of the requests that began in it
  std::optional<double> not_sent{}, attempts_per_s{}, ok_per_s{}, timed_out{}, errors{};
  std::optional<double> requests_per_s{};  // that began in it
  std::optional<TimeBound> request_p50{}, request_p99{};
  std::vector<double> errors_by{};  // in the order of `kErrorKinds`; empty without errors

  bool operator==(const PhaseResult&) const = default;
};
using PhaseResults = std::array<PhaseResult, kPhaseNames.size()>;

// What became of clients of one kind, where there are several. Of many runs these are means.
struct ClientsFigures {
  std::string name{};
  double success = 0, attempts = 0;  // the share of their requests, and for each request

  bool operator==(const ClientsFigures&) const = default;
};

// Null if there are none with this name.
const ClientsFigures* find_clients(const std::vector<ClientsFigures>& clients,
                                   std::string_view name);

// The part of one run's result that is kept.
struct RunResult {
  Verdict verdict = Verdict::kNoOutage;
  std::optional<Duration> errors_gone{}, time_to_recovery{};
  std::optional<Duration> to_watch{};    // to see a queue empty
  std::optional<Duration> queue_wait{};  // in the queue of a service that is back
  bool cut = false;                      // see `SimulationResult`
  double amplification = 1;
  double success_share = 1;
  double ok_per_s = 0;
  double gave_up = 0;
  double not_sent = 0;
  double not_sent_share = 0;  // of the attempts that the policy wanted
  double unfinished = 0;      // of the requests, the share that `success_share` leaves out
  double doubtful = 0;        // the part of it that may end otherwise than the rest
  double never_sent = 0;      // likewise, those without an attempt, or in line for a connection
  // Where nothing was retried: how many requests were given up because their failure is not retried,
  // and which failures these were.
  double nothing_retried = 0;
  RetryOn not_retryable{};
  // Of the request times; empty without requests.
  std::optional<TimeBound> request_p50{}, request_p99{};
  double ok_lost = 0;
  std::size_t peak_concurrency = 0;
  bool peak_is_bound = false;  // by --max-connections
  // Only with a job: its calls, those that were done, and how long it was observed.
  double calls = 0, calls_done = 0;
  std::optional<Duration> observed{};
  // Only with a job or a rate limit.
  std::optional<Duration> makespan{};
  std::optional<double> throttled_share{}, idle_share{}, provided{};
  // Only of clients that wait for their answers, with a rate limit: the longest time that one of them
  // went without an OK answer.
  std::optional<Duration> longest_without_ok{};
  // Where processes share something: their number, and the requests per second of each.
  std::optional<double> processes{}, process_rate{};
  // If there were hedges: how many for each request, and the share of them that won.
  std::optional<double> hedges{}, hedges_won{};
  // Where clients lose their connections: the share that had one again, and when the last one had.
  std::optional<double> back_share{};
  std::optional<Duration> all_back{};
  std::string died_first{};            // which service of a chain did, if any
  std::optional<double> last_calls{};  // of the last service of a chain, for each request
  std::vector<ClientsFigures> clients{};
  PhaseResults phases{};  // in the order of `RunPhase`

  bool operator==(const RunResult&) const = default;
};

RunResult result_of(const SimulationResult& run);

// All runs of one cell.
struct CellResult {
  std::size_t runs = 0;
  bool alike = false;            // several runs whose figures do not differ
  double misses = kUsualMisses;  // of its intervals
  // Runs by verdict. They add up to `runs`.
  std::size_t no_outage = 0, recovered = 0, relapsed = 0, recovering = 0, undecided = 0,
              collapsed = 0;
  std::size_t cut = 0;  // of all these, or taken to end like one that was
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
  std::optional<Duration> to_watch{};  // the longest of any run
  // Set if no run can come back, however long it is observed: what the service can answer of its load.
  std::string held{};
  // The recovered runs whose queue is not empty, and the longest wait in any.
  std::size_t queued = 0;
  std::optional<Duration> queue_wait{};
  // Times until errors were gone use recovered and recovering runs. Times to recovery use only
  // recovered runs. All other runs are censored: it took longer than they were observed.
  std::optional<Duration> errors_gone_median{}, errors_gone_p90{};
  std::optional<Duration> recovery_median{}, recovery_p90{};
  std::optional<TimeInterval> recovery_interval{};  // of the median
  Mean amplification{.value = 1, .interval = {}};
  Mean success_share{.value = 1, .interval = {}};
  double ok_per_s = 0;                                    // mean over the runs
  double gave_up = 0;                                     // mean over the runs
  double not_sent = 0, not_sent_share = 0;                // likewise
  double unfinished = 0, doubtful = 0, never_sent = 0;    // likewise
  double nothing_retried = 0;                             // likewise, if no run retried anything
  RetryOn not_retryable{};                                // of any run
  std::optional<TimeBound> request_p50{}, request_p99{};  // medians over the runs
  double ok_lost = 0;                                     // mean
  std::size_t peak_concurrency = 0;
  bool peak_is_bound = false;  // by --max-connections
  // Of jobs: the runs, those that were done, and means of the calls. `observed`: the longest.
  std::size_t jobs = 0, jobs_done = 0;
  double calls = 0, calls_done = 0;
  Duration observed{0};
  // The median over the runs. A run that was not done counts as longer than all others.
  std::optional<Duration> makespan_median{};
  std::optional<TimeInterval> makespan_interval{};  // of the median
  // Only with a job or a rate limit. Means of the share of attempts that were throttled, of the
  // share of the capacity that was idle, and of the unit-seconds provided.
  std::optional<double> throttled_share{}, idle_share{}, provided{};
  std::optional<Duration> longest_without_ok{};  // the median over the runs
  // Means, where processes share something.
  std::optional<double> processes{}, process_rate{};
  std::optional<double> hedges{}, hedges_won{};  // means of the runs with any
  // Where clients lose their connections: the mean share that had one again, and the time until all
  // had. A run in which some never had counts as longer than all others.
  std::optional<double> back_share{};
  std::optional<Duration> all_back_median{}, all_back_p90{};
  // The service of a chain that died first in most runs, and the share of all runs. Empty if none did.
  std::string died_first{};
  double died_first_share = 0;
  std::optional<double> last_calls{};  // the mean
  std::vector<ClientsFigures> clients{};
  PhaseResults phases{};
};

// `misses`: how often its intervals may miss. Where `unfinished` is a percent or more, the interval of
// `success_share` reaches down to where all of these fail.
CellResult summarize(const std::vector<RunResult>& runs, double misses = kUsualMisses);

}  // namespace retrystorm
