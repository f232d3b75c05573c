// Records latencies of attempts, requests and services in little memory, with a known error.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/base/duration.h"

namespace retrystorm {

// A time that is known exactly, or only to be so much or more.
struct TimeBound {
  Duration time{0};
  bool or_more = false;

  bool operator==(const TimeBound&) const = default;
};

// A histogram from 1 microsecond to an hour, with 128 bins per doubling. A quantile is the middle
// of its bin, so its error is at most 0.4 %. Not thread-safe.
class LatencyHistogram {
 public:
  void add(Duration latency);
  void add(const LatencyHistogram& other);

  // What was added after `before`, an earlier copy of this histogram. Its `max` is that of all
  // values.
  LatencyHistogram since(const LatencyHistogram& before) const;

  // The latency that a share of `q` in [0, 1] does not exceed; nothing if the histogram is empty.
  std::optional<Duration> quantile(double q) const;

  // The same of these latencies and of others that are still growing: `so_far`. If it falls on one
  // of these, it may be more.
  std::optional<TimeBound> quantile(double q, const LatencyHistogram& so_far) const;

  std::uint64_t count() const { return count_; }

  // Exact; nothing if the histogram is empty.
  std::optional<Duration> max() const;

 private:
  std::vector<std::uint64_t>
      bins_;                   // empty until one is needed; the last bin: all longer latencies
  std::uint64_t shorter_ = 0;  // latencies below the first bin
  std::uint64_t count_ = 0;
  Duration max_{0};
};

// Quantiles of a histogram; nothing if it is empty.
struct LatencyQuantiles {
  std::optional<Duration> p50{}, p95{}, p99{};
};

LatencyQuantiles quantiles(const LatencyHistogram& histogram);

}  // namespace retrystorm
