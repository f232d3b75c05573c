#include "model/service/service_curve.h"

#include <algorithm>
#include <limits>

#include "model/base/crossing.h"
#include "model/base/portable_math.h"

namespace retrystorm {

ServiceCurve::ServiceCurve(Duration base_delay, std::size_t limit, double factor, double k)
    : base_delay_(base_delay),
      limit_(limit),
      growth_(natural_log(factor) / k),
      longest_from_(concurrency_of_delay(Duration::max()) + 1) {}  // 1: for rounding

Duration ServiceCurve::delay(std::size_t concurrency) const {
  if (concurrency <= limit_ || base_delay_ == Duration::zero()) return base_delay_;
  const auto requests = static_cast<double>(concurrency);
  return requests >= longest_from_ ? Duration::max() : from_seconds(seconds(requests));
}

double ServiceCurve::seconds(double concurrency) const {
  const double above = std::max(concurrency - static_cast<double>(limit_), 0.0);
  return to_seconds(base_delay_) * exponential(above * growth_);
}

double ServiceCurve::throughput(double concurrency) const {
  return concurrency / seconds(concurrency);
}

double ServiceCurve::best_concurrency() const {
  if (base_delay_ == Duration::zero() || growth_ == 0)
    return std::numeric_limits<double>::infinity();
  return std::max(1 / growth_, static_cast<double>(limit_));
}

double ServiceCurve::concurrency_of_delay(Duration delay) const {
  if (delay < base_delay_) return 0;
  if (base_delay_ == Duration::zero() || growth_ == 0)
    return std::numeric_limits<double>::infinity();
  return static_cast<double>(limit_) +
         natural_log(to_seconds(delay) / to_seconds(base_delay_)) / growth_;
}

double ServiceCurve::falling_concurrency(double rate) const {
  const double low = best_concurrency();
  if (low == std::numeric_limits<double>::infinity() || throughput(low) <= rate) return low;
  double high = 2 * low;
  while (throughput(high) > rate) high *= 2;
  return find_crossing(low, high, [&](double some) { return throughput(some) > rate; }).low;
}

}  // namespace retrystorm
