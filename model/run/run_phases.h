// What happened before, during and after the outage.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/base/duration.h"
#include "model/run/counts.h"
#include "model/run/run_latencies.h"

namespace retrystorm {

// The names in reports, in the order of `RunPhase`.
inline constexpr std::array<std::string_view, 3> kPhaseNames{"before", "during", "after"};

struct PhaseFigures {
  Duration length{0};
  Counts counts{};  // what happened in this phase, whenever the requests began
  // The requests that began in this phase, whenever they ended. Those that are too young at the end of the run are
  // left out: see `RunLatencies::end`.
  std::uint64_t ok = 0, gave_up = 0, unfinished = 0;
  std::optional<TimeBound> request_p50{}, request_p99{};

  std::uint64_t requests() const { return ok + gave_up + unfinished; }
  // The share of the requests that succeeded. Unfinished ones have failed. Nothing without requests.
  std::optional<double> success_share() const;
};

// In the order of `RunPhase`.
using RunPhases = std::array<PhaseFigures, kPhaseNames.size()>;

// Splits the totals of a run into phases. Of several outages the times are added up.
class PhaseTotals {
 public:
  explicit PhaseTotals(TimePoint start) : start_(start), phase_start_(start) {}

  // Time passes.
  void pass(TimePoint now, const Counts& totals);
  // An outage begins or ends, or the run ends.
  void next(TimePoint now, const Counts& totals);

  // With what `latencies` say about the requests that began in each phase.
  RunPhases phases(const RunLatencies& latencies) const;

 private:
  struct Part {
    Duration length{0};
    Counts counts{};
  };

  const TimePoint start_;
  std::array<Part, kPhaseNames.size()> parts_{};
  std::size_t begun_ = 0;  // outages begun and ended
  TimePoint phase_start_;
  Counts phase_start_totals_{};
  bool is_warm_ = false;
  TimePoint warm_{};      // when the clients had started
  Counts warm_totals_{};  // at that time
};

}  // namespace retrystorm
