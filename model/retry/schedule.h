// The waits of a strategy, computed without a run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/base/duration.h"
#include "model/retry/retry_settings.h"

namespace retrystorm {

struct ScheduledWait {
  // The quantiles of `spread`.
  static constexpr std::array kShares{0.05, 0.5, 0.95};

  Duration wait{};
  Duration until{};  // from the begin of the first attempt to the end of this wait
  // Quantiles of this wait over a thousand more clients; empty if no wait of the schedule is random.
  std::optional<std::array<Duration, kShares.size()>> spread{};
  bool failed = true;  // the attempt before the wait
};

// A script for the attempts' results. They fail until a wait has reached `fails_until`. From then on,
// they succeed while the wait is longer than `succeeds_above`.
struct ScheduleStory {
  Duration fails_until{};
  Duration succeeds_above{};
};

// The first `count` waits, of a client whose attempts all fail or follow the story, and take `takes` each. A
// story has no quantiles. Ends early when the request is given up.
std::vector<ScheduledWait> scheduled_waits(const RetrySettings& settings, Duration think_time,
                                           std::uint64_t seed, std::size_t count,
                                           const std::optional<ScheduleStory>& story = std::nullopt,
                                           Duration takes = Duration::zero());

// Why a schedule ends after so many waits: "after 3 attempts (--max-attempts)".
std::string end_of_schedule(const RetrySettings& settings, std::size_t waits);

}  // namespace retrystorm
