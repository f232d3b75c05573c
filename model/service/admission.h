// Which requests the service admits: rate limit and load shedding.
#pragma once

#include <cstddef>

#include "model/base/duration.h"
#include "model/service/rate_limit.h"
#include "model/service/rejection.h"

namespace retrystorm {

// Decides about each request on arrival. A rejected request never counts in the concurrency. Not
// thread-safe. Times must not go back.
class AdmissionControl {
 public:
  // shed_above: reject a request that would raise the concurrency above this, with `shed_status`.
  // 0 = never.
  AdmissionControl(const RateLimitSettings& rate_limit, std::size_t shed_above,
                   int shed_status = kRejections[index_of(Rejection::kShed)].status,
                   TimePoint start = {})
      : rate_limit_(rate_limit, start),
        status_(rate_limit.status),
        shed_above_(shed_above),
        shed_status_(shed_status) {}

  // `concurrency` does not include this request. A rejection carries a hint when to retry: when a
  // token is available, or a second after load shedding.
  Answer admit(TimePoint now, std::size_t concurrency) {
    return shed_above_ == 0 && !rate_limit_.on() ? Answer() : decide(now, concurrency);
  }

  // When the rate limit may next change. `TimePoint::max()` if it never does.
  TimePoint next_event() const { return rate_limit_.next_event(); }
  void advance(TimePoint now) { rate_limit_.advance(now); }

  const RateLimit& rate_limit() const { return rate_limit_; }

  // Applies new settings from now on.
  void configure(TimePoint now, const RateLimitSettings& rate_limit, std::size_t shed_above,
                 int shed_status);

 private:
  Answer decide(TimePoint now, std::size_t concurrency);

  RateLimit rate_limit_;
  int status_;
  std::size_t shed_above_;
  int shed_status_;
};

}  // namespace retrystorm
