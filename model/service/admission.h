// Who is let into the service: rate limit and load shedding.
#pragma once

#include <cstddef>

#include "model/base/duration.h"
#include "model/service/rejection.h"

namespace retrystorm {

// Decides for each request at its arrival. What is turned away never counts in the concurrency.
// Not for use from two threads at once.
class AdmissionControl {
 public:
  // rate_limit: requests a second let in on average, 0 = no limit. rate_burst: how many may come at
  // once (at least 1), 0 = one second's worth. shed_above: a request that would raise the
  // concurrency above this is turned away, 0 = never.
  AdmissionControl(double rate_limit, double rate_burst, std::size_t shed_above);

  // From now on these limits hold. The tokens that are there stay, as far as there is room for
  // them; a rate limit where there was none begins with all.
  void configure(TimePoint now, double rate_limit, double rate_burst, std::size_t shed_above);

  // `concurrency` is that before this request. Times must not go back. Who is turned away is told
  // to come again when there is a token, or a second after shedding.
  Answer admit(TimePoint now, std::size_t concurrency) {
    return shed_above_ == 0 && rate_limit_ <= 0 ? Answer() : decide(now, concurrency);
  }

 private:
  Answer decide(TimePoint now, std::size_t concurrency);
  void fill(TimePoint now);

  double rate_limit_;
  double burst_;
  double tokens_;
  std::size_t shed_above_;
  TimePoint filled_at_{};
};

}  // namespace retrystorm
