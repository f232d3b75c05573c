// What a run has counted, the rates of a window of it, and what its clients are doing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/base/duration.h"
#include "model/base/outcome.h"

namespace retrystorm {

// Totals since the start of a run, or what was added between two moments.
struct Counts {
  std::uint64_t ok = 0;
  std::uint64_t errors = 0;
  std::uint64_t timed_out = 0;
  std::uint64_t requests = 0;  // wanted by the clients
  std::uint64_t retries = 0;   // further attempts sent, after a request's first
  std::uint64_t gave_up = 0;   // requests that failed for good
  std::uint64_t not_sent = 0;  // attempts that a gate of their process refused
  std::uint64_t unsent = 0;    // requests of which no attempt has been sent so far

  std::uint64_t attempts() const { return requests - unsent + retries; }
  std::uint64_t failures() const { return errors + timed_out; }
  std::uint64_t finished() const { return ok + failures(); }

  // Retry amplification: attempts sent for each request; 1 when there was none.
  double amplification() const;

  void count(Outcome outcome);

  Counts& operator+=(const Counts& other);
  friend Counts operator-(const Counts& a, const Counts& b);
};

// What the clients are doing.
struct ClientStates {
  std::size_t thinking = 0;   // or pausing after a success, as the responsive ones do
  std::size_t in_flight = 0;  // an attempt is under way
  std::size_t waiting_to_retry = 0;
};

// Counts of a window, per second.
struct Rates {
  double ok = 0;
  double errors = 0;
  double timed_out = 0;
  double attempts = 0;
  double retries = 0;
  double gave_up = 0;
  double not_sent = 0;
};

// All zero for an empty window.
Rates rates(const Counts& counts, Duration window);

}  // namespace retrystorm
