// How long a request takes, as a function of the concurrency.
#pragma once

#include <cstddef>

#include "model/base/duration.h"

namespace retrystorm {

// delay(c) = base_delay while c <= limit, else base_delay * factor^((c - limit)/k). This is smira's
// curve, with his constant 15 as k. The longest delay is `Duration::max()`. The original overflows
// there (above a concurrency of 7,792 with the defaults) and answers everything at once.
class ServiceCurve {
 public:
  // base_delay >= 0, factor >= 1, k > 0.
  ServiceCurve(Duration base_delay, std::size_t limit, double factor, double k);

  Duration delay(std::size_t concurrency) const;

  // The answers per second at a constant concurrency.
  double throughput(double concurrency) const;
  // The concurrency of the greatest throughput. Infinite if the throughput has no limit.
  double best_concurrency() const;
  // The concurrency from which on a request takes longer than this. 0 if it always does, infinite if
  // it never does.
  double concurrency_of_delay(Duration delay) const;
  // The concurrency above the best at which throughput has fallen to `rate` requests per second.
  // The best one, if throughput is never as high; infinite if it never falls.
  double falling_concurrency(double rate) const;

 private:
  double seconds(double concurrency) const;

  Duration base_delay_;
  std::size_t limit_;
  double growth_;  // ln(factor)/k: the increase of the delay's logarithm per request
  // From here on the delay is certainly the longest. A service that its clients leave behind gets
  // there, and its concurrency goes on growing.
  double longest_from_;
};

}  // namespace retrystorm
