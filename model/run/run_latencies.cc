#include "model/run/run_latencies.h"

namespace retrystorm {

LatencyHistogram RunLatencies::attempts() const {
  LatencyHistogram all = both_;
  all.add(attempts_);
  return all;
}

LatencyHistogram RunLatencies::requests() const {
  LatencyHistogram all = both_;
  all.add(requests_);
  return all;
}

}  // namespace retrystorm
