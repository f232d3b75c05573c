#include "model/service/service_curve.h"

#include "model/base/portable_math.h"

namespace retrystorm {

ServiceCurve::ServiceCurve(Duration base_delay, std::size_t limit, double factor, double k)
    : base_delay_(base_delay), limit_(limit), growth_(natural_log(factor) / k) {}

Duration ServiceCurve::delay(std::size_t concurrency) const {
  if (concurrency <= limit_ || base_delay_ == Duration::zero()) return base_delay_;
  return from_seconds(to_seconds(base_delay_) *
                      exponential(static_cast<double>(concurrency - limit_) * growth_));
}

}  // namespace retrystorm
