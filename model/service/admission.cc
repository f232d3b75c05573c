#include "model/service/admission.h"

#include <chrono>

namespace retrystorm {
namespace {

constexpr Duration kAfterShedding = std::chrono::seconds(1);

}  // namespace

Answer AdmissionControl::decide(TimePoint now, std::size_t concurrency) {
  if (shed_above_ > 0 && concurrency >= shed_above_) {
    return {.rejection = Rejection::kShed, .retry_after = kAfterShedding};
  }
  if (!rate_limit_.on()) return {};
  const auto wait = rate_limit_.take(now);
  if (!wait) return {};
  const int usual = kRejections[index_of(Rejection::kRateLimited)].status;
  return {.rejection = Rejection::kRateLimited,
          .retry_after = *wait,
          .rejected_with = status_ == usual ? 0 : status_};
}

void AdmissionControl::configure(TimePoint now, const RateLimitSettings& rate_limit,
                                 std::size_t shed_above) {
  rate_limit_.configure(now, rate_limit);
  status_ = rate_limit.status;
  shed_above_ = shed_above;
}

}  // namespace retrystorm
