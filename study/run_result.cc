#include "study/run_result.h"

namespace retrystorm {

std::span<const FigureRow> figure_rows() {
  using F = RunResult;
  static constexpr FigureRow kRows[] = {
      {"verdict", &F::verdict, OfMany::kOther},
      {"errors_gone_ns", &F::errors_gone, OfMany::kOther},
      {"time_to_recovery_ns", &F::time_to_recovery, OfMany::kOther},
      {"to_watch_ns", &F::to_watch, OfMany::kMost},
      {"queue_wait_ns", &F::queue_wait, OfMany::kMost},
      {"cut", &F::cut},
      {"amplification", &F::amplification},
      {"success_share", &F::success_share},
      {"ok_per_s", &F::ok_per_s},
      {"gave_up", &F::gave_up},
      {"not_sent", &F::not_sent},
      {"not_sent_share", &F::not_sent_share},
      {"unfinished", &F::unfinished},
      {"doubtful", &F::doubtful},
      {"never_sent", &F::never_sent},
      {"nothing_retried", &F::nothing_retried},
      {"not_retryable", &F::not_retryable},
      {"request_p50_ns", &F::request_p50},
      {"request_p99_ns", &F::request_p99},
      {"ok_lost", &F::ok_lost},
      {"peak_concurrency", &F::peak_concurrency},
      {"peak_is_bound", &F::peak_is_bound},
      {"calls", &F::calls},
      {"calls_done", &F::calls_done},
      {"observed_ns", &F::observed, OfMany::kMost},
      {"makespan_ns", &F::makespan},
      {"throttled_share", &F::throttled_share},
      {"idle_share", &F::idle_share},
      {"provided", &F::provided},
      {"longest_without_ok_ns", &F::longest_without_ok},
      {"processes", &F::processes},
      {"process_rate", &F::process_rate},
      {"hedges", &F::hedges},
      {"hedges_won", &F::hedges_won},
      {"back_share", &F::back_share},
      {"all_back_ns", &F::all_back},
      {"died_first", &F::died_first, OfMany::kOther},
      {"last_calls", &F::last_calls},
      {"clients", &F::clients, OfMany::kOther},
  };
  return kRows;
}

std::span<const PhaseRow> phase_rows() {
  using P = PhaseResult;
  static constexpr PhaseRow kRows[] = {
      {"success_", &P::success},
      {"gave_up_", &P::gave_up},
      {"not_sent_", &P::not_sent},
      {"attempts_per_s_", &P::attempts_per_s},
      {"ok_per_s_", &P::ok_per_s},
      {"timed_out_", &P::timed_out},
      {"errors_", &P::errors},
      {"requests_per_s_", &P::requests_per_s},
      {"request_p50_ns_", &P::request_p50},
      {"request_p99_ns_", &P::request_p99},
      {"errors_by_", &P::errors_by},
  };
  return kRows;
}

}  // namespace retrystorm
