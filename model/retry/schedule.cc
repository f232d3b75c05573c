#include "model/retry/schedule.h"

#include <algorithm>
#include <cmath>

#include "model/base/random.h"
#include "model/retry/failing_client.h"
#include "model/retry/retry_policy.h"

namespace retrystorm {
namespace {

// The smallest of `waits` that at least a share `p` of them does not exceed.
Duration quantile(std::vector<Duration>& waits, double p) {
  const double rank = std::ceil(p * static_cast<double>(waits.size()));
  const auto at =
      waits.begin() + std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(rank), 1) - 1;
  std::nth_element(waits.begin(), at, waits.end());
  return *at;
}

std::vector<ScheduledWait> all_fail(const RetrySettings& settings, Duration think_time,
                                    std::uint64_t seed, std::size_t count, Duration takes) {
  constexpr std::size_t kDraws = 1000;
  const RetryPolicy policy(settings);
  FailingClient client(policy, settings, think_time, seed, 0, takes);
  std::vector<FailingClient> others;
  for (std::size_t i = 1; i <= kDraws; ++i) {
    others.emplace_back(policy, settings, think_time, seed, i, takes);
  }
  std::vector<ScheduledWait> schedule;
  bool random = false;
  std::vector<Duration> waits;
  while (schedule.size() < count) {
    const auto wait = client.fail();
    if (!wait) break;
    waits.assign(1, *wait);
    for (FailingClient& other : others) {
      if (const auto its = other.fail()) waits.push_back(*its);
    }
    const auto [least, most] = std::minmax_element(waits.begin(), waits.end());
    random = random || *least < *most;
    auto& spread = schedule.emplace_back(ScheduledWait{.wait = *wait, .until = client.elapsed()})
                       .spread.emplace();
    for (std::size_t i = 0; i < spread.size(); ++i) {
      spread[i] = quantile(waits, ScheduledWait::kShares[i]);
    }
  }
  if (!random) {
    for (ScheduledWait& each : schedule) each.spread.reset();
  }
  return schedule;
}

std::vector<ScheduledWait> scripted(const RetrySettings& settings, Duration think_time,
                                    std::uint64_t seed, std::size_t count,
                                    const ScheduleStory& story, Duration takes) {
  const RetryPolicy policy(settings);
  ClientRandom random(seed, 0);
  RetryState state;
  RetryMetrics metrics;
  const auto begin_request = [&] { policy.begin_request(state, random.exponential(think_time)); };
  begin_request();
  const AttemptResult failure = retried_failure(settings.limit.retry_on);
  bool failing = true;
  bool failed = true;
  TimePoint now{};
  std::vector<ScheduledWait> schedule;
  while (schedule.size() < count) {
    policy.may_send(now, state, nullptr, random);
    const AttemptResult result = failed ? failure : AttemptResult();
    now = saturating_add(now, std::min(takes, policy.time_left(now, state)));
    const Decision decision = policy.after(now, result, state, nullptr, random, metrics);
    if (decision.gave_up) break;
    now = saturating_add(now, decision.wait);
    schedule.push_back({.wait = decision.wait, .until = now - TimePoint{}, .failed = failed});
    failing = failing && decision.wait < story.fails_until;
    if (!decision.retry) begin_request();
    failed = failing || decision.wait <= story.succeeds_above;
  }
  return schedule;
}

}  // namespace

std::vector<ScheduledWait> scheduled_waits(const RetrySettings& settings, Duration think_time,
                                           std::uint64_t seed, std::size_t count,
                                           const std::optional<ScheduleStory>& story,
                                           Duration takes) {
  return story ? scripted(settings, think_time, seed, count, *story, takes)
               : all_fail(settings, think_time, seed, count, takes);
}

std::string end_of_schedule(const RetrySettings& settings, std::size_t waits) {
  const bool attempts = settings.limit.max_retries == waits;
  return "after " + std::to_string(waits + 1) + (waits == 0 ? " attempt" : " attempts") +
         (attempts ? " (--max-attempts)" : " (--deadline)");
}

}  // namespace retrystorm
