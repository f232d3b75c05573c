#include "model/run/run_phases.h"

namespace retrystorm {

std::optional<double> PhaseFigures::success_share() const {
  if (requests() == 0) return std::nullopt;
  return static_cast<double>(ok) / static_cast<double>(requests());
}

void PhaseTotals::pass(TimePoint now, const Counts& totals) {
  if (is_warm_ || begun_ > 0 || now < start_ + RunLatencies::kWarmUp) return;
  is_warm_ = true;
  warm_ = now;
  warm_totals_ = totals;
}

void PhaseTotals::next(TimePoint now, const Counts& totals) {
  const bool is_before = begun_ == 0;
  if (is_before && is_warm_ && RunLatencies::leaves_out_warm_up(now - start_)) {
    phase_start_ = warm_;
    phase_start_totals_ = warm_totals_;
  }
  Part& part = parts_[static_cast<std::size_t>(RunLatencies::phase_number(begun_++))];
  part.length += now - phase_start_;
  part.counts += totals - phase_start_totals_;
  phase_start_ = now;
  phase_start_totals_ = totals;
}

RunPhases PhaseTotals::phases(const RunLatencies& latencies) const {
  RunPhases phases;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const auto began = latencies.began_in(static_cast<RunPhase>(i));
    phases[i] = {.length = parts_[i].length,
                 .counts = parts_[i].counts,
                 .ok = began.ok,
                 .gave_up = began.gave_up,
                 .unfinished = began.unfinished,
                 .request_p50 = began.times.quantile(0.5),
                 .request_p99 = began.times.quantile(0.99)};
  }
  return phases;
}

}  // namespace retrystorm
