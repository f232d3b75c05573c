#include "simulator/graph/callers.h"

#include <algorithm>

namespace retrystorm {

Duration Callers::patience() const {
  Duration longest{0};
  for (const auto& each : doors_) longest = std::max(longest, each->calls.timeout());
  return longest;
}

std::size_t Callers::in_flight() const {
  std::size_t sum = 0;
  for (const auto& each : doors_) sum += each->calls.in_flight();
  return sum;
}

std::size_t Callers::in_service() const {
  std::size_t sum = 0;
  for (const auto& each : doors_) sum += each->calls.in_service();
  return sum;
}

bool Callers::have_deadlines() const {
  return std::any_of(doors_.begin(), doors_.end(),
                     [](const auto& each) { return each->deadline != DeadlinePropagation::kNone; });
}

void Callers::Door::note(TimePoint now, const Attempt& attempt) {
  deadlines.sent(attempt, deadline == DeadlinePropagation::kAttempt
                              ? calls.attempt_left(now, attempt)
                              : calls.request_left(now, attempt));
  // An attempt that nobody waits for reaches the service only if it lies there unread.
  if (!deadlines.are_many() || !callers.server_->has_read_all()) return;
  deadlines.forget_old(now, [this](const Attempt& each) { return !calls.waits_for(each); });
}

}  // namespace retrystorm
