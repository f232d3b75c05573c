// The latencies of a run's OK attempts, in little memory and with a known error.
#pragma once

#include <boost/histogram/axis/regular.hpp>
#include <boost/histogram/histogram.hpp>
#include <optional>
#include <vector>

#include "common/duration.h"

namespace retrystorm {

// A histogram from 1 microsecond to an hour, 128 bins to each doubling: a quantile is the middle
// of its bin, so that it is off by 0.4 % at most. Not for use from two threads at once.
class LatencyHistogram {
 public:
  LatencyHistogram();

  void add(Duration latency);
  void add(const LatencyHistogram& other);

  // The latency that a share of `q` in [0, 1] does not exceed; nothing when nothing was added.
  std::optional<Duration> quantile(double q) const;

  // Exact.
  std::optional<Duration> max() const;

 private:
  // The bits of a positive double, read as an integer, grow almost as its logarithm does, and cost
  // nothing to take.
  struct LogLinear {
    static double forward(double seconds);
    static double inverse(double value);
  };
  using Axis = boost::histogram::axis::regular<double, LogLinear>;
  using Histogram =
      boost::histogram::histogram<std::tuple<Axis>, boost::histogram::dense_storage<std::uint64_t>>;

  Histogram histogram_;
  std::uint64_t count_ = 0;
  Duration max_{0};
};

}  // namespace retrystorm
