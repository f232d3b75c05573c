// Counts and rates of a run, and what its clients are doing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/sums.h"
#include "model/retry/attempt.h"
#include "model/service/service_observer.h"

namespace retrystorm {

// The kinds of errors that reports distinguish: statuses, groups of all other statuses, and why there was no answer.
inline constexpr std::array<std::string_view, 13> kErrorKinds{
    "400", "404", "429",          "500",     "502",   "503",        "504",
    "4xx", "5xx", "other_status", "refused", "reset", "unreachable"};

// How many errors there were of each kind. Those without an answer and without a known reason are
// in none of them.
using ErrorCounts = std::array<std::uint64_t, kErrorKinds.size()>;

// The kind of an error, as an index into `kErrorKinds`, or `kErrorKinds.size()` if it has none.
std::size_t error_kind(const AttemptResult& error);

// Totals since the start of a run, or the difference between two such totals.
struct Counts {
  std::uint64_t ok = 0;
  std::uint64_t errors = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t requests = 0;    // started by the clients, sent or not
  std::uint64_t attempts = 0;    // sent
  std::uint64_t retries = 0;     // attempts that repeat a request
  std::uint64_t hedges = 0;      // of these, those sent while another attempt of it was under way
  std::uint64_t hedges_won = 0;  // whose answer was the request's
  GiveUpCounts gave_up_by{};     // requests that failed for good, by reason
  std::uint64_t not_sent = 0;    // attempts refused by a gate of the client's process
  std::uint64_t throttled = 0;   // errors by which the service asked for less load
  std::uint64_t failing = 0;     // requests that are being retried now
  std::uint64_t young = 0;       // of these, at the end of a run: see `RunLatencies::end`
  ErrorCounts errors_by{};       // errors, by kind

  // Requests without an attempt, so far or for good.
  std::uint64_t unsent() const { return requests - (attempts - retries); }
  std::uint64_t failures() const { return errors + timed_out; }
  std::uint64_t finished() const { return ok + failures(); }
  std::uint64_t gave_up() const;

  // How many failures were not retried because the policy retries none of their kind, if nothing
  // was retried at all; otherwise 0.
  std::uint64_t nothing_retried() const;

  // Retry amplification: attempts sent per request, or 1 without requests.
  double amplification() const;

  // The requests with a known result: they succeeded, were given up, or are being retried and not `young`.
  std::uint64_t known() const { return ok + gave_up() + failing - young; }
  // The share of them that succeeded. 1 when there are none.
  double success_share() const;

  // The requests that it leaves out, and their share of all. They are under way.
  std::uint64_t left_out() const;
  double left_out_share() const;
  // From which share on reports name them beside the share that succeeded.
  static constexpr double kManyLeftOut = 0.01;

  // The share of attempts whose answer asked for less load. 0 without attempts.
  double throttled_share() const;

  void count(const AttemptResult& result);
  void give_up(GiveUp reason) { ++gave_up_by[static_cast<std::size_t>(reason)]; }

  static constexpr std::tuple kSummed{&Counts::ok,        &Counts::errors,     &Counts::timed_out,
                                      &Counts::requests,  &Counts::attempts,   &Counts::retries,
                                      &Counts::hedges,    &Counts::hedges_won, &Counts::not_sent,
                                      &Counts::failing,   &Counts::gave_up_by, &Counts::errors_by,
                                      &Counts::throttled, &Counts::young};
};

// The connections that processes keep.
struct KeptConnections {
  std::size_t open = 0;  // idle, in use, and being opened
  std::size_t idle = 0;
  std::size_t in_line = 0;  // attempts that wait for one
  // Since the start of the run:
  std::uint64_t opened = 0;
  std::uint64_t given_up = 0;    // closed, because their attempt timed out or was cancelled
  std::uint64_t waited = 0;      // attempts that had to wait in line
  std::uint64_t sent_again = 0;  // attempts that were lost, and sent again without the policy
  std::optional<KernelState> kernel{};  // the server's, if the engine sees it

  // With those of other clients of the same service.
  static constexpr std::tuple kSummed{&KeptConnections::open,      &KeptConnections::idle,
                                      &KeptConnections::in_line,   &KeptConnections::opened,
                                      &KeptConnections::given_up,  &KeptConnections::waited,
                                      &KeptConnections::sent_again};
};

// The attempts that a service finds when it wakes from a freeze.
struct FoundOnWaking {
  std::size_t accept_queue = 0;  // on connections that it has not accepted
  std::size_t kept = 0;          // on connections that it accepted before
  std::size_t stale = 0;         // of all these, those whose clients have gone
  std::uint64_t no_room = 0;     // SYNs dropped meanwhile, because the accept queue was full
};

// What the clients are doing.
struct ClientStates {
  std::size_t thinking = 0;   // or pausing after a success, like responsive clients
  std::size_t in_flight = 0;  // an attempt is under way
  std::size_t waiting_to_retry = 0;
  // Jobs only: the mean of the pauses or waits that the workers chose last.
  std::optional<Duration> mean_pause{};
  // Only where connections are lost: the clients without one, whatever they are doing.
  std::optional<std::size_t> disconnected{};
  std::optional<KeptConnections> kept{};  // empty if connections are not kept
};

// Of clients of another kind in the same run, which have no job and keep no connection of their own.
ClientStates operator+(const ClientStates& a, const ClientStates& b);

// Counts of a window, per second.
struct Rates {
  double ok = 0;
  double errors = 0;
  double timed_out = 0;
  double attempts = 0;
  double retries = 0;
  double hedges = 0;
  double hedges_won = 0;
  double requests = 0;  // started by the clients, sent or not
  std::array<double, kGiveUpNames.size()> gave_up_by{};
  double not_sent = 0;
  double throttled = 0;
  std::array<double, kErrorKinds.size()> errors_by{};

  double gave_up() const;
};

// All zero for an empty window.
Rates rates(const Counts& counts, Duration window);

}  // namespace retrystorm
