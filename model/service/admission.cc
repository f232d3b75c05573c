#include "model/service/admission.h"

#include <algorithm>
#include <chrono>

namespace retrystorm {
namespace {

constexpr Duration kAfterShedding = std::chrono::seconds(1);

double burst(double rate_limit, double rate_burst) {
  return std::max(1.0, rate_burst > 0 ? rate_burst : rate_limit);
}

}  // namespace

AdmissionControl::AdmissionControl(double rate_limit, double rate_burst, std::size_t shed_above)
    : rate_limit_(rate_limit),
      burst_(burst(rate_limit, rate_burst)),
      tokens_(burst_),
      shed_above_(shed_above) {}

void AdmissionControl::configure(TimePoint now, double rate_limit, double rate_burst,
                                 std::size_t shed_above) {
  const bool limited = rate_limit_ > 0;
  fill(now);
  rate_limit_ = rate_limit;
  burst_ = burst(rate_limit, rate_burst);
  tokens_ = limited ? std::min(tokens_, burst_) : burst_;
  shed_above_ = shed_above;
}

void AdmissionControl::fill(TimePoint now) {
  tokens_ = std::min(burst_, tokens_ + to_seconds(now - filled_at_) * rate_limit_);
  filled_at_ = now;
}

Answer AdmissionControl::decide(TimePoint now, std::size_t concurrency) {
  if (shed_above_ > 0 && concurrency >= shed_above_) {
    return {.rejection = Rejection::kShed, .retry_after = kAfterShedding};
  }
  if (rate_limit_ <= 0) return {};
  fill(now);
  if (tokens_ < 1) {
    return {.rejection = Rejection::kRateLimited,
            .retry_after = from_seconds((1 - tokens_) / rate_limit_)};
  }
  tokens_ -= 1;
  return {};
}

}  // namespace retrystorm
