// How long the service takes for a request, by how many are in it.
#pragma once

#include <cstddef>

#include "model/base/duration.h"

namespace retrystorm {

// delay(c) = base_delay while c <= limit, else base_delay * factor^((c - limit)/k): smira's curve,
// with his constant 15 as k. Its longest delay is `Duration::max()`; the original overflows there
// (above a concurrency of 7,792 with the defaults) and answers everything at once.
class ServiceCurve {
 public:
  // base_delay >= 0, factor >= 1, k > 0.
  ServiceCurve(Duration base_delay, std::size_t limit, double factor, double k);

  Duration delay(std::size_t concurrency) const;

 private:
  Duration base_delay_;
  std::size_t limit_;
  double growth_;  // ln(factor)/k: by how much the delay's logarithm grows with each request
};

}  // namespace retrystorm
