#include "model/service/admission.h"

#include <chrono>

namespace retrystorm {
namespace {

constexpr Duration kAfterShedding = std::chrono::seconds(1);

// The status of a rejection: 0 if it is the usual one of the reason.
int status_for(Rejection reason, int status) {
  return status == kRejections[index_of(reason)].status ? 0 : status;
}

}  // namespace

Answer AdmissionControl::decide(TimePoint now, std::size_t concurrency) {
  if (shed_above_ > 0 && concurrency >= shed_above_) {
    return {.rejection = Rejection::kShed,
            .with = status_for(Rejection::kShed, shed_status_),
            .retry_after = kAfterShedding};
  }
  if (!rate_limit_.on()) return {};
  const auto wait = rate_limit_.take(now);
  if (!wait) return {};
  return {.rejection = Rejection::kRateLimited,
          .with = status_for(Rejection::kRateLimited, status_),
          .retry_after = *wait};
}

void AdmissionControl::configure(TimePoint now, const RateLimitSettings& rate_limit,
                                 std::size_t shed_above, int shed_status) {
  rate_limit_.configure(now, rate_limit);
  status_ = rate_limit.status;
  shed_above_ = shed_above;
  shed_status_ = shed_status;
}

}  // namespace retrystorm
