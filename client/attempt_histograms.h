// How long attempts and the waits before retries last, in Prometheus' histograms.
#pragma once

#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>

#include <cstdint>
#include <vector>

#include "model/base/duration.h"
#include "model/base/outcome.h"

namespace retrystorm {

// All members are safe from any thread.
class AttemptHistograms {
 public:
  AttemptHistograms();

  AttemptHistograms(const AttemptHistograms&) = delete;
  AttemptHistograms& operator=(const AttemptHistograms&) = delete;

  void add_attempt(Outcome outcome, Duration latency);
  void add_retry_wait(Duration wait);

  // As things stand.
  struct RetryWaits {
    std::uint64_t count = 0;
    double seconds = 0;  // in all
  };
  RetryWaits retry_waits() const;
  std::vector<prometheus::MetricFamily> families() const;

 private:
  prometheus::Histogram ok_, error_, timed_out_, retry_wait_;
};

}  // namespace retrystorm
