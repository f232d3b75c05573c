// The figures of a run that are kept, in one table: summaries of many runs, and the page's JSON both
// ways, follow from it. A new figure is a member and a row.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "model/base/duration.h"
#include "model/base/latency.h"
#include "model/retry/retry_on.h"
#include "model/run/recovery.h"
#include "model/run/run_phases.h"

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

}  // namespace retrystorm
