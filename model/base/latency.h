// How long attempts, requests and services took, in little memory and with a known error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/base/duration.h"

namespace retrystorm {

// A histogram from 1 microsecond to an hour, 128 bins to each doubling: a quantile is the middle
// of its bin, so that it is off by 0.4 % at most. Not for use from two threads at once.
class LatencyHistogram {
 public:
  LatencyHistogram();

  void add(Duration latency);
  void add(const LatencyHistogram& other);

  // What was added since a copy of this histogram was made. Its `max` is that of all.
  LatencyHistogram since(const LatencyHistogram& before) const;

  // The latency that a share of `q` in [0, 1] does not exceed; nothing when nothing was added.
  std::optional<Duration> quantile(double q) const;

  // Exact.
  std::optional<Duration> max() const;

 private:
  std::vector<std::uint64_t> bins_;  // the last one: all that is longer
  std::uint64_t shorter_ = 0;        // than the first bin
  std::uint64_t count_ = 0;
  Duration max_{0};
};

// Quantiles of what was added between two moments; nothing when nothing was.
struct LatencyQuantiles {
  std::optional<Duration> p50{}, p95{}, p99{};
};

LatencyQuantiles quantiles(const LatencyHistogram& histogram);

}  // namespace retrystorm
