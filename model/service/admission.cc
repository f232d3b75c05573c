#include "model/service/admission.h"

#include <algorithm>
#include <chrono>

namespace retrystorm {
namespace {

constexpr Duration kAfterShedding = std::chrono::seconds(1);

}  // namespace

AdmissionControl::AdmissionControl(double rate_limit, double rate_burst, std::size_t shed_above)
    : rate_limit_(rate_limit),
      burst_(std::max(1.0, rate_burst > 0 ? rate_burst : rate_limit)),
      tokens_(burst_),
      shed_above_(shed_above) {}

Answer AdmissionControl::decide(TimePoint now, std::size_t concurrency) {
  if (shed_above_ > 0 && concurrency >= shed_above_) {
    return {.rejection = Rejection::kShed, .retry_after = kAfterShedding};
  }
  if (rate_limit_ <= 0) return {};
  tokens_ = std::min(burst_, tokens_ + to_seconds(now - filled_at_) * rate_limit_);
  filled_at_ = now;
  if (tokens_ < 1) {
    return {.rejection = Rejection::kRateLimited,
            .retry_after = from_seconds((1 - tokens_) / rate_limit_)};
  }
  tokens_ -= 1;
  return {};
}

}  // namespace retrystorm
