// Prometheus histograms of how long attempts, waits before retries and whole requests last.
#pragma once

#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>

#include <cstdint>
#include <vector>

#include "model/base/duration.h"
#include "model/base/outcome.h"

namespace retrystorm {

// All members are safe from any thread.
class TimeHistograms {
 public:
  TimeHistograms();

  TimeHistograms(const TimeHistograms&) = delete;
  TimeHistograms& operator=(const TimeHistograms&) = delete;

  void add_attempt(Outcome outcome, Duration latency);
  void add_retry_wait(Duration wait);

  // How requests end. The time of a request that succeeded goes from its first attempt to its
  // answer.
  enum class RequestResult { kSucceeded, kGivenUp };
  void add_request(RequestResult result, Duration time);

  struct RetryWaits {
    std::uint64_t count = 0;
    double seconds = 0;  // the sum
  };
  RetryWaits retry_waits() const;
  std::vector<prometheus::MetricFamily> families() const;

 private:
  prometheus::Histogram ok_, error_, timed_out_, retry_wait_, succeeded_, given_up_;
};

}  // namespace retrystorm
