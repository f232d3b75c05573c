// Who is let into the service: rate limit and load shedding.
#pragma once

#include <cstddef>

#include "model/base/duration.h"
#include "model/service/rate_limit.h"
#include "model/service/rejection.h"

namespace retrystorm {

// Decides for each request at its arrival. What is turned away never counts in the concurrency.
// Not for use from two threads at once; times must not go back.
class AdmissionControl {
 public:
  // shed_above: a request that would raise the concurrency above this is turned away, 0 = never.
  AdmissionControl(const RateLimitSettings& rate_limit, std::size_t shed_above,
                   TimePoint start = {})
      : rate_limit_(rate_limit, start), status_(rate_limit.status), shed_above_(shed_above) {}

  // `concurrency` is that before this request. Who is turned away is told to come again when there
  // is a token, or a second after shedding.
  Answer admit(TimePoint now, std::size_t concurrency) {
    return shed_above_ == 0 && !rate_limit_.on() ? Answer() : decide(now, concurrency);
  }

  // When the rate limit may change by itself; `TimePoint::max()` when it never does.
  TimePoint next_event() const { return rate_limit_.next_event(); }
  void advance(TimePoint now) { rate_limit_.advance(now); }

  const RateLimit& rate_limit() const { return rate_limit_; }

  // From now on these settings are in force.
  void configure(TimePoint now, const RateLimitSettings& rate_limit, std::size_t shed_above);

 private:
  Answer decide(TimePoint now, std::size_t concurrency);

  RateLimit rate_limit_;
  int status_;
  std::size_t shed_above_;
};

}  // namespace retrystorm
