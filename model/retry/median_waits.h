// The median waits of a backoff, computed without random numbers: half of the clients wait this long
// or less.
#pragma once

#include <cstddef>
#include <vector>

#include "model/base/duration.h"
#include "model/retry/backoff.h"

namespace retrystorm {

// The median wait before each of the first retries of a request whose attempts all fail without
// throttling. Exact if no wait depends on the jitter of the one before. Otherwise
// (--grow-from=jittered, decorrelated, polly) the distribution is represented by 255 quantiles, and the
// result is within 2 % of the median.
std::vector<Duration> median_waits(const BackoffSettings& settings, std::size_t retries);

// The times between which the first waits of many clients are. Exact where they are uniformly
// distributed. Otherwise these are the ends of the uniform distribution with the same middle nine
// tenths.
struct WaitSpan {
  Duration from{0}, to{0};
};
WaitSpan first_waits_span(const BackoffSettings& settings);

}  // namespace retrystorm
