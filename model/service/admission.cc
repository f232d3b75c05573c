#include "model/service/admission.h"

#include <algorithm>

namespace retrystorm {

AdmissionControl::AdmissionControl(double rate_limit, double rate_burst, std::size_t shed_above)
    : rate_limit_(rate_limit),
      burst_(std::max(1.0, rate_burst > 0 ? rate_burst : rate_limit)),
      tokens_(burst_),
      shed_above_(shed_above) {}

Admission AdmissionControl::admit(TimePoint now, std::size_t concurrency) {
  if (shed_above_ > 0 && concurrency >= shed_above_) return Admission::kShed;
  if (rate_limit_ <= 0) return Admission::kServe;
  tokens_ = std::min(burst_, tokens_ + to_seconds(now - filled_at_) * rate_limit_);
  filled_at_ = now;
  if (tokens_ < 1) return Admission::kRateLimited;
  tokens_ -= 1;
  return Admission::kServe;
}

Duration AdmissionControl::retry_after(Admission admission) const {
  if (admission == Admission::kRateLimited) return from_seconds((1 - tokens_) / rate_limit_);
  return admission == Admission::kShed ? std::chrono::seconds(1) : Duration::zero();
}

}  // namespace retrystorm
