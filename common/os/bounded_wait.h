// Limits a wait that may have no end.
#pragma once

#include <algorithm>
#include <chrono>

#include "model/base/duration.h"

namespace retrystorm {

// Limits a condition variable's wait to a year from now, because a far time point overflows inside
// the wait of some standard libraries. A caller that waits longer must wait again.
inline TimePoint bounded(TimePoint time) {
  return std::min<TimePoint>(time, Clock::now() + std::chrono::hours(24 * 365));
}

}  // namespace retrystorm
