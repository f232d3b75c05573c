// Requests that arrive from outside, whatever happens to earlier ones: at a rate, as a file says, or periodically.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/duration.h"
#include "model/base/random.h"

namespace retrystorm {

// From `t` on, so many times the rate of the file arrives.
struct ArrivalStep {
  Duration t{0};
  double load = 1;
};

// What a file says of arrivals.
struct ArrivalFile {
  double rate = 0;  // requests/s: the highest one; of times, their mean until the last one
  std::vector<Duration> times;     // of each arrival, in order; empty: the file gives rates
  std::vector<ArrivalStep> steps;  // of times, how many arrive in each window of a verdict
};

// Reads lines of "seconds,rate" (the rate from that second on), or of the seconds of one arrival each. Seconds count
// from the start of the run. Blank lines, a heading, and what follows a # are skipped. Throws std::invalid_argument
// with a readable message that names the line.
ArrivalFile parse_arrivals(std::string_view text);

// The text of a file, by its path; longer than `most` bytes, it throws a message that begins with `whose`. Programs that
// read files set it, before options are read.
inline std::string (*read_arrivals)(const std::string& path, std::size_t most,
                                    const std::string& whose) = nullptr;

// When requests arrive from outside, if not at one rate.
struct ArrivalPlan {
  std::string text{};  // as it is typed, "file:PATH" or "periodic:1m0s"; empty: at one rate
  std::shared_ptr<const ArrivalFile> file{};
  double rate = 0;     // the file's, perhaps scaled
  Duration period{0};  // each client sends one request every so long; 0: of a file

  bool on() const { return !text.empty(); }
  bool periodic() const { return period > Duration::zero(); }
  // Are the times themselves given? Then no load can change them.
  bool has_times() const { return periodic() || (file && !file->times.empty()); }
  // The first one is at the start.
  std::span<const ArrivalStep> steps() const;
  // The text, unless it is of a constant rate and thus the same as --rate.
  std::string unless_constant() const;
};

// Reads "file:PATH" and "periodic:P"; nothing of another text. Throws std::invalid_argument with a readable message,
// or what `read_arrivals` throws.
ArrivalPlan parse_plan(std::string_view text);

// The times between arrivals. They have a separate random stream, independent of the requests. The
// n-th request to arrive (from 0) draws from `ClientRandom(seed, n)`. Not thread-safe.
class OpenArrivals {
 public:
  // `rate` > 0: mean requests per second, if the plan has no times. `clients`: of a periodic plan. Each has a moment
  // of its own in the first `splay` of all periods.
  OpenArrivals(std::uint64_t seed, double rate, const ArrivalPlan& plan = {},
               std::size_t clients = 1, Duration splay = Duration::zero());

  // The time until the next arrival, counted from the last one, or from the start of the run.
  // `Duration::max()` after the last one of a file.
  Duration next_gap() { return times_ ? next_gap_of_times() : random_.exponential(mean_); }

 private:
  static constexpr std::uint64_t kStream = std::numeric_limits<std::uint64_t>::max() - 1;

  Duration next_gap_of_times();

  ClientRandom random_;
  Duration mean_;
  std::shared_ptr<const std::vector<Duration>> times_;  // of a period; null: they are drawn
  Duration period_{0};                                  // 0: `times_` come once
  std::size_t next_ = 0;
  Duration period_start_{0}, last_{0};
};

}  // namespace retrystorm
