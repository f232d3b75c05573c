// The results of many runs of one cell, summarized.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/output/json_text.h"
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

// The part of one run's result that is kept. Of many runs, each figure is what its type and its row say: the
// mean, the median or the most.
struct RunResult {
  Verdict verdict = Verdict::kNoOutage;  // of many runs, not used
  // Of many runs, medians. Times until errors were gone use recovered and recovering runs. Times to
  // recovery use only recovered runs. All other runs are censored: it took longer than they were observed.
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
  // Where nothing was retried (in no run): how many requests were given up because their failure is not
  // retried, and which failures these were.
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
  // Only with a job or a rate limit. A run whose job was not done counts as longer than all others.
  std::optional<Duration> makespan{};
  std::optional<double> throttled_share{}, idle_share{}, provided{};
  // Only of clients that wait for their answers, with a rate limit: the longest time that one of them
  // went without an OK answer.
  std::optional<Duration> longest_without_ok{};
  // Where processes share something: their number, and the requests per second of each.
  std::optional<double> processes{}, process_rate{};
  // Where an outage hits some of several hosts: the share of its attempts that went to these.
  std::optional<double> hit_share{};
  // Where probes kill hosts: how often, and how often one that worked, but was too busy for its probe.
  std::optional<double> killed{}, killed_busy{};
  // If there were hedges: how many for each request, and the share of them that won.
  std::optional<double> hedges{}, hedges_won{};
  // Where clients lose their connections: the share that had one again, and when the last one had.
  std::optional<double> back_share{};
  std::optional<Duration> all_back{};
  std::string died_first{};  // which service of a chain did, if any: of many runs, in most
  std::optional<double> last_calls{};  // of the last service of a chain, for each request
  std::vector<ClientsFigures> clients{};
  PhaseResults phases{};  // in the order of `RunPhase`

  bool operator==(const RunResult&) const = default;
};

// What many runs make of a figure. A number becomes its mean over the runs that have it, a yes or a
// count the most of any run.
enum class OfMany {
  kTypical,  // of a time, the median; a run without it counts as longer than all others
  kMost,     // the longest time of any run
  kOther,    // not by itself: see `summarize`
};

struct FigureRow {
  using Member = std::variant<double RunResult::*, std::optional<double> RunResult::*,
                              std::optional<Duration> RunResult::*,
                              std::optional<TimeBound> RunResult::*, Verdict RunResult::*,
                              bool RunResult::*, std::size_t RunResult::*, RetryOn RunResult::*,
                              std::string RunResult::*, std::vector<ClientsFigures> RunResult::*>;
  const char* name;  // in the page's JSON
  Member member;
  OfMany of_many = OfMany::kTypical;
};

// Of a phase, whose name stands between these two.
struct PhaseRow {
  using Member =
      std::variant<std::optional<double> PhaseResult::*, std::optional<TimeBound> PhaseResult::*,
                   std::vector<double> PhaseResult::*>;
  const char* name;
  Member member;
};

// All figures but those of the phases, and those.
std::span<const FigureRow> figure_rows();
std::span<const PhaseRow> phase_rows();

// Calls `visit` with the name of each figure and its member of `figures`, which is a RunResult, const
// or not.
template <typename Figures, typename Visit>
void each_figure(Figures& figures, const Visit& visit) {
  for (const FigureRow& row : figure_rows()) {
    std::visit([&](auto member) { visit(std::string(row.name), figures.*member); }, row.member);
  }
  for (std::size_t i = 0; i < kPhaseNames.size(); ++i) {
    for (const PhaseRow& row : phase_rows()) {
      const std::string name = row.name + std::string(kPhaseNames[i]);
      std::visit([&](auto member) { visit(name, figures.phases[i].*member); }, row.member);
    }
  }
}

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
  std::size_t back_runs() const { return decided() - down_runs() - recovering; }
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

// The columns of a table of cells.

// A figure of cells, as the files for programs have it.
struct CellColumn {
  std::string name;
  std::function<Json(const CellResult&)> value;
};

// What only some runs have. Its columns are the last ones.
struct MoreColumns {
  bool reconnects = false;             // clients lose their connections
  bool processes = false;              // processes share something
  bool hosts = false;                  // an outage hits some of several hosts
  bool probes_kill = false;            // hosts
  bool hedges = false;                 // requests are hedged
  bool graph = false;                  // there are services behind services
  bool errors_by = false;              // the only values that are no numbers: errors by their kind
  std::vector<std::string> clients{};  // of several kinds: their names
};

// The columns in the order of the table.
std::vector<CellColumn> cell_columns(const MoreColumns& more = {});

// A row for programs: the names and values that identify the cell, then every column.
std::vector<std::string> cell_names(std::vector<std::string> labels, const MoreColumns& more = {});
using CellValues = std::vector<Json>;
CellValues cell_values(const std::vector<std::string>& labels, const CellResult& cell,
                       const MoreColumns& more = {});

}  // namespace retrystorm
