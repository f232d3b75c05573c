// The figures of a run before, during and after its outage: latencies and counts.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/base/duration.h"
#include "model/base/latency.h"
#include "model/run/counts.h"

namespace retrystorm {

// The phases of a run with an outage. Of several outages, all are `kDuring`, and all time between
// and after them is `kAfter`.
enum class RunPhase { kBefore, kDuring, kAfter };

// The times of requests: of those that have ended, and of the others so far.
struct RequestTimes {
  LatencyHistogram ended{}, so_far{};

  // A request that has not ended counts with its time so far.
  std::optional<TimeBound> quantile(double q) const { return ended.quantile(q, so_far); }
  std::optional<TimeBound> max() const;
};

// The latencies of OK attempts, and the times of requests. A request's time runs from when it asks
// for its first attempt until its end. Most pairs are equal, and these are counted once. A request
// belongs to the phase in which it began, `begun`. Not thread-safe.
class RunLatencies {
 public:
  // How long clients are still starting. The phase before the outage leaves this time out if it is
  // at least twice as long, as the baseline does.
  static constexpr Duration kWarmUp = std::chrono::seconds(5);
  static bool leaves_out_warm_up(Duration before) { return before >= 2 * kWarmUp; }

  // The phase after this many beginnings and ends of outages.
  static RunPhase phase_number(std::size_t changes) {
    return changes == 0       ? RunPhase::kBefore
           : changes % 2 == 1 ? RunPhase::kDuring
                              : RunPhase::kAfter;
  }

  RunLatencies() : RunLatencies(TimePoint{}) {}
  explicit RunLatencies(TimePoint start);

  // An outage begins or ends.
  void begin_phase(TimePoint now);

  // A request succeeded. `attempt` is the latency of its last attempt.
  void add_ok(TimePoint begun, Duration attempt, Duration request) {
    Requests& requests = of(begun);
    if (attempt == request) {
      requests.both.add(attempt);
    } else {
      requests.attempts.add(attempt);
      requests.requests.add(request);
    }
  }
  // A request was given up.
  void add_given_up(TimePoint begun, Duration request) {
    Requests& requests = of(begun);
    requests.requests.add(request);
    ++requests.gave_up;
  }
  // A request is still under way at the end of the run.
  void add_unfinished(TimePoint begun, TimePoint now) {
    of(begun).so_far.add(now - begun);
    of(begun).unfinished.push_back(now - begun);
  }

  // The run has ended. What is under way and younger than one attempt's timeout and than three times the p99 of before
  // the outage, if there was one, neither succeeded nor failed. Older requests failed. Sets `young` of the clients' counts.
  void end(Duration timeout, Counts& counts);

  // Adds those of other clients of the same run.
  RunLatencies& operator+=(const RunLatencies& other);

  LatencyHistogram attempts() const;  // of OK attempts
  RequestTimes requests() const;

  struct Began {
    std::uint64_t ok = 0, gave_up = 0, unfinished = 0;
    RequestTimes times{};
  };
  // The requests that began in this phase. Those that are left out have a time only.
  Began began_in(RunPhase phase) const;

 private:
  struct Requests {
    LatencyHistogram both{}, attempts{}, requests{}, so_far{};
    std::uint64_t gave_up = 0;
    std::vector<Duration>
        unfinished{};  // the times of `so_far`; from the end on without those that are left out

    void add_times_to(RequestTimes& times) const;
  };

  // The requests that began while the clients were starting, and those of each phase.
  static std::size_t index_of(std::size_t span) {
    return span < 2 ? span : 1 + static_cast<std::size_t>(phase_number(span - 1));
  }
  Requests& of(TimePoint begun) {
    std::size_t span = starts_.size() - 1;
    while (span > 0 && begun < starts_[span]) --span;
    return requests_[index_of(span)];
  }

  TimePoint start_;
  bool leaves_out_warm_up_ = true;
  std::vector<TimePoint> starts_;  // of the warm-up, the calm after it, and each phase
  std::vector<Requests> requests_;
};

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
