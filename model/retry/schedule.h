// The waits of a client of which every attempt fails: one attempt after the other, as a table, and their medians.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/base/duration.h"
#include "model/base/random.h"
#include "model/retry/backoff.h"
#include "model/retry/retry_policy.h"
#include "model/retry/retry_settings.h"

namespace retrystorm {

// A failure that these settings retry: a timeout (as in an outage) if they retry timeouts,
// otherwise a refused connection or a 503.
AttemptResult retried_failure(const RetryOn& retried);

// Each attempt takes `takes`, or what is left before the deadline. The budget and gates of the process are
// ignored. `policy` must outlive the client.
class FailingClient {
 public:
  FailingClient(const RetryPolicy& policy, const RetrySettings& settings, Duration think_time,
                std::uint64_t seed, std::uint64_t index, Duration takes = Duration::zero());

  // Fails the next attempt and returns the wait after it; nothing once the request is given up.
  std::optional<Duration> fail();
  // Its next attempt fails or succeeds, and what follows. After a success another request begins.
  Decision end_attempt(bool fails);

  // From the begin of the first attempt to the end of the last wait.
  Duration elapsed() const { return now_ - TimePoint{}; }

 private:
  const RetryPolicy* policy_;
  AttemptResult failure_;
  Duration takes_;
  ClientRandom random_;
  RetryState state_;
  RetryMetrics metrics_;
  Duration think_time_;
  TimePoint now_{};
  bool gave_up_ = false;
};

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
