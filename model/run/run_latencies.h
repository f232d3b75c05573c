// How long the attempts and the requests of a run took.
#pragma once

#include "model/base/duration.h"
#include "model/base/latency.h"

namespace retrystorm {

// The latencies of OK attempts, and the times that requests took from when their first attempt was
// asked for to their end. Most are one and the same, and are counted once. Not for use from two
// threads at once.
class RunLatencies {
 public:
  // A request succeeded with an attempt that took so long.
  void add_ok(Duration attempt, Duration request) {
    if (attempt == request) {
      both_.add(attempt);
    } else {
      attempts_.add(attempt);
      requests_.add(request);
    }
  }
  // A request was given up.
  void add_given_up(Duration request) { requests_.add(request); }

  LatencyHistogram attempts() const;  // of OK attempts
  LatencyHistogram requests() const;  // of requests that are over

 private:
  LatencyHistogram both_, attempts_, requests_;
};

}  // namespace retrystorm
