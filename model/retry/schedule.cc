#include "model/retry/schedule.h"

#include <algorithm>
#include <cmath>

#include "model/retry/attempt.h"

namespace retrystorm {

AttemptResult retried_failure(const RetryOn& retried) {
  const AttemptResult late = timed_out(Duration::zero());
  for (const AttemptResult& each :
       {late, not_connected(Duration::zero()), answered(503, std::nullopt, Duration::zero())}) {
    if (retried.covers(each)) return each;
  }
  return late;
}

FailingClient::FailingClient(const RetryPolicy& policy, const RetrySettings& settings,
                             Duration think_time, std::uint64_t seed, std::uint64_t index,
                             Duration takes)
    : policy_(&policy),
      failure_(retried_failure(settings.limit.retry_on)),
      takes_(takes),
      random_(seed, index),
      think_time_(think_time) {
  policy.begin_request(state_, random_.exponential(think_time));
}

Decision FailingClient::end_attempt(bool fails) {
  policy_->may_send(now_, state_, nullptr, random_);
  now_ = saturating_add(now_, std::min(takes_, policy_->time_left(now_, state_)));
  const Decision decision =
      policy_->after(now_, fails ? failure_ : AttemptResult(), state_, nullptr, random_, metrics_);
  now_ = saturating_add(now_, decision.wait);
  if (!fails) policy_->begin_request(state_, random_.exponential(think_time_));
  return decision;
}

std::optional<Duration> FailingClient::fail() {
  if (gave_up_) return std::nullopt;
  const Decision decision = end_attempt(true);
  gave_up_ = decision.gave_up.has_value();
  return gave_up_ ? std::nullopt : std::optional(decision.wait);
}

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
  FailingClient client(policy, settings, think_time, seed, 0, takes);
  bool failing = true;
  bool failed = true;
  std::vector<ScheduledWait> schedule;
  while (schedule.size() < count) {
    const Decision decision = client.end_attempt(failed);
    if (decision.gave_up) break;
    schedule.push_back({.wait = decision.wait, .until = client.elapsed(), .failed = failed});
    failing = failing && decision.wait < story.fails_until;
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

namespace {

// How many equally likely values represent a random number. Odd, so that one is the median.
constexpr std::size_t kQuantiles = 255;

// Every number drawn from it is one quantile of its distribution.
class QuantileRandom final : public Random {
 public:
  static QuantileRandom of_uniform(double p) { return QuantileRandom({p, p}); }

  // `Random::normal` computes z from two numbers u and v within a circle. If u^2 + v^2 is always the
  // same, z is proportional to u.
  static QuantileRandom of_normal(double p) {
    constexpr double kLog = -20;  // of u^2 + v^2; |z| is at most 6.3
    const double square = retrystorm::exponential(kLog);
    const double u = normal_quantile(p) * std::sqrt(square / (-2 * kLog));
    const double v = std::sqrt(std::max(square - u * u, 0.0));
    return QuantileRandom({(u + 1) / 2, (v + 1) / 2});
  }

  using Random::uniform;
  double uniform() override { return numbers_[next_++ % numbers_.size()]; }

 private:
  explicit QuantileRandom(std::array<double, 2> numbers) : numbers_(numbers) {}

  std::array<double, 2> numbers_;
  std::size_t next_ = 0;
};

std::vector<QuantileRandom> quantiles_of(const Jitter& jitter) {
  std::vector<QuantileRandom> quantiles;
  for (std::size_t i = 0; i < kQuantiles; ++i) {
    const double p = (static_cast<double>(i) + 0.5) / kQuantiles;
    quantiles.push_back(jitter.kind == Jitter::Kind::kNormal ? QuantileRandom::of_normal(p)
                                                             : QuantileRandom::of_uniform(p));
  }
  return quantiles;
}

// Reduces many equally likely values to `kQuantiles`.
std::vector<Duration> reduced(std::vector<Duration> values) {
  std::sort(values.begin(), values.end());
  if (values.front() == values.back()) return {values.front()};
  std::vector<Duration> some;
  for (std::size_t i = 0; i < kQuantiles; ++i) {
    some.push_back(values[(2 * i + 1) * values.size() / (2 * kQuantiles)]);
  }
  return some;
}

}  // namespace

WaitSpan first_waits_span(const BackoffSettings& settings) {
  const Backoff backoff(settings);
  std::vector<Duration> waits;
  for (QuantileRandom random : quantiles_of(settings.jitter)) {
    RetryState state;
    waits.push_back(backoff.next(state, false, random));
  }
  std::sort(waits.begin(), waits.end());
  constexpr std::size_t kTwentieth = kQuantiles / 20;
  const Duration low = waits[kTwentieth], high = waits[kQuantiles - 1 - kTwentieth];
  // The place of the lower one, in the middle of its quantile, and the part between both.
  constexpr double kBelow = (kTwentieth + 0.5) / kQuantiles;
  const Duration width = scale(high - low, 1 / (1 - 2 * kBelow));
  const Duration below = scale(width, kBelow);
  return {.from = low - std::min(low, below), .to = saturating_add(high, below)};
}

std::vector<Duration> median_waits(const BackoffSettings& settings, std::size_t retries) {
  const Backoff backoff(settings);
  std::vector<QuantileRandom> quantiles = quantiles_of(settings.jitter);
  if (settings.jitter.kind == Jitter::Kind::kNone) quantiles.resize(1, quantiles.front());
  std::vector<Duration> medians;
  std::vector<Duration> before{Duration::zero()};  // what the next wait grows from
  RetryState state;
  for (; medians.size() < retries; state.count_retry()) {
    std::vector<Duration> waits, after;
    for (const Duration from : before) {
      for (QuantileRandom random : quantiles) {
        state.backoff = from;
        waits.push_back(backoff.next(state, false, random));
        after.push_back(state.backoff);
      }
    }
    const auto middle = waits.begin() + static_cast<std::ptrdiff_t>(waits.size() / 2);
    std::nth_element(waits.begin(), middle, waits.end());
    medians.push_back(*middle);
    before = reduced(std::move(after));
  }
  return medians;
}

}  // namespace retrystorm
