// What a run has counted, the rates of a window of it, and what its clients are doing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/base/duration.h"
#include "model/base/outcome.h"
#include "model/retry/give_up.h"

namespace retrystorm {

// Totals since the start of a run, or what was added between two moments.
struct Counts {
  std::uint64_t ok = 0;
  std::uint64_t errors = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t requests = 0;   // wanted by the clients
  std::uint64_t retries = 0;    // further attempts sent, after a request's first
  GiveUpCounts gave_up_by{};    // requests that failed for good, by reason
  std::uint64_t not_sent = 0;   // attempts that a gate of their process refused
  std::uint64_t throttled = 0;  // of the errors, those by which the service asked for less
  // As things stand, requests that are not over:
  std::uint64_t unsent = 0;   // no attempt has been sent so far, nor of those that never were
  std::uint64_t failing = 0;  // has failed and is retried, or waits for it

  std::uint64_t attempts() const { return requests - unsent + retries; }
  std::uint64_t failures() const { return errors + timed_out; }
  std::uint64_t finished() const { return ok + failures(); }
  std::uint64_t gave_up() const;

  // Retry amplification: attempts sent for each request; 1 when there was none.
  double amplification() const;

  // The share of requests that succeeded, of those of which something is known: they succeeded,
  // were given up, or are failing. 1 when there is none.
  double success_share() const;

  // The share of the attempts by whose answer the service asked for less; 0 when there was none.
  double throttled_share() const;

  void count(Outcome outcome);
  void give_up(GiveUp reason) { ++gave_up_by[static_cast<std::size_t>(reason)]; }

  Counts& operator+=(const Counts& other);
  friend Counts operator-(const Counts& a, const Counts& b);
};

// What the clients are doing.
struct ClientStates {
  std::size_t thinking = 0;   // or pausing after a success, as the responsive ones do
  std::size_t in_flight = 0;  // an attempt is under way
  std::size_t waiting_to_retry = 0;
  // Of a job, whose workers these are: the pause or wait that each decided on last.
  std::optional<Duration> mean_pause{};
};

// Counts of a window, per second.
struct Rates {
  double ok = 0;
  double errors = 0;
  double timed_out = 0;
  double attempts = 0;
  double retries = 0;
  double requests = 0;  // wanted by the clients, also such of which nothing was sent
  std::array<double, kGiveUpNames.size()> gave_up_by{};
  double not_sent = 0;
  double throttled = 0;

  double gave_up() const;
};

// All zero for an empty window.
Rates rates(const Counts& counts, Duration window);

}  // namespace retrystorm
