#include "model/retry/retry_policy.h"

#include <algorithm>
#include <stdexcept>

namespace retrystorm {
namespace {

Duration not_negative(Duration delay) {
  return std::max(delay, Duration::zero());
}

// smira's fixed retry: the same wait for ever.
class FixedRetry final : public RetryPolicy {
 public:
  explicit FixedRetry(const RetryOptions& options) : delay_(options.fixed_delay) {}

 private:
  Duration next_wait(RetryState&, Random&, RetryMetrics&) const override { return delay_; }

  Duration delay_;
};

// min(initial + n * step, max), n = 0 for the first retry.
class LinearBackoff final : public RetryPolicy {
 public:
  explicit LinearBackoff(const RetryOptions& options)
      : initial_(options.linear_initial), step_(options.linear_step), max_(options.max_delay) {}

 private:
  Duration next_wait(RetryState& state, Random&, RetryMetrics&) const override {
    return std::min(saturating_add(initial_, scale(step_, state.retries)), max_);
  }

  Duration initial_, step_, max_;
};

// smira's exponential backoff, after Twisted's ReconnectingClientFactory: the first wait is
// min_delay, each further one min(last * factor, max_delay) and a normal variate of standard
// deviation jitter times that. As there, a jittered wait is the one the next is computed from.
class ExponentialBackoff final : public RetryPolicy {
 public:
  explicit ExponentialBackoff(const RetryOptions& options)
      : min_(options.min_delay),
        max_(options.max_delay),
        factor_(options.factor),
        jitter_(options.jitter),
        from_(options.backoff_from) {}

 private:
  void on_begin_request(RetryState& state, Duration think_time) const override {
    state.delay = think_time;
  }

  Duration next_wait(RetryState& state, Random& random, RetryMetrics&) const override {
    if (state.retries == 0 && from_ == BackoffFrom::kMinDelay) {
      state.delay = std::min(min_, max_);
    } else {
      const Duration delay = std::min(scale(state.delay, factor_), max_);
      state.delay = jitter_ > 0 ? not_negative(scale(delay, 1 + jitter_ * random.normal())) : delay;
    }
    return state.delay;
  }

  Duration min_, max_;
  double factor_, jitter_;
  BackoffFrom from_;
};

// The cloud providers' truncated exponential backoff: min(base * 2^n + uniform(0, random), max).
class TruncatedBackoff final : public RetryPolicy {
 public:
  explicit TruncatedBackoff(const RetryOptions& options)
      : base_(options.truncated_base), max_(options.maximum_backoff), random_(options.random) {}

 private:
  Duration next_wait(RetryState& state, Random& random, RetryMetrics&) const override {
    const auto doublings = static_cast<double>(std::uint64_t{1} << std::min(state.retries, 63u));
    return std::min(saturating_add(scale(base_, doublings), scale(random_, random.uniform())),
                    max_);
  }

  Duration base_, max_, random_;
};

// The AutoSleeper: each failure lengthens the client's pause, every so many successes shorten it,
// and the client pauses after successes too until the pause has fallen under the initial one.
class ResponsiveSleeper final : public RetryPolicy {
 public:
  explicit ResponsiveSleeper(const RetryOptions& options)
      : initial_(options.initial_interval),
        max_(options.max_interval),
        up_(options.up_multiplier),
        down_(options.down_multiplier),
        down_threshold_(options.down_threshold),
        randomization_(options.randomization),
        max_randomization_(options.max_randomization) {}

 private:
  bool paces() const override { return true; }

  Duration next_wait(RetryState& state, Random& random, RetryMetrics& metrics) const override {
    ++metrics.ups;
    state.delay = state.delay == Duration::zero()
                      ? std::min(initial_, max_)
                      : std::min(randomized(scale(state.delay, up_), random), max_);
    return state.delay;
  }

  Duration wait_after_success(RetryState& state, Random& random,
                              RetryMetrics& metrics) const override {
    if (++state.successes >= down_threshold_) {
      state.successes = 0;
      ++metrics.downs;
      state.delay = randomized(scale(state.delay, down_), random);
      if (state.delay < initial_) state.delay = Duration::zero();
    }
    return state.delay;
  }

  // Uniform in x +- min(randomization * x, max_randomization).
  Duration randomized(Duration x, Random& random) const {
    const Duration spread = std::min(scale(x, randomization_), max_randomization_);
    if (spread == Duration::zero()) return x;
    const Duration low = x - spread;
    return not_negative(saturating_add(low, scale(spread, 2 * random.uniform())));
  }

  Duration initial_, max_;
  double up_, down_;
  std::uint32_t down_threshold_;
  double randomization_;
  Duration max_randomization_;
};

Duration count_sleep(RetryMetrics& metrics, Duration wait) {
  ++metrics.sleeps;
  metrics.total_sleep = saturating_add(metrics.total_sleep, wait);
  return wait;
}

}  // namespace

RetryMetrics& RetryMetrics::operator+=(const RetryMetrics& other) {
  invocations += other.invocations;
  ups += other.ups;
  downs += other.downs;
  sleeps += other.sleeps;
  total_sleep = saturating_add(total_sleep, other.total_sleep);
  return *this;
}

Duration RetryPolicy::after_failure(RetryState& state, Random& random,
                                    RetryMetrics& metrics) const {
  ++metrics.invocations;
  const Duration wait = next_wait(state, random, metrics);
  ++state.retries;
  return count_sleep(metrics, wait);
}

Duration RetryPolicy::after_success(RetryState& state, Random& random,
                                    RetryMetrics& metrics) const {
  ++metrics.invocations;
  if (!paces() || state.delay == Duration::zero()) return Duration::zero();
  return count_sleep(metrics, wait_after_success(state, random, metrics));
}

Duration RetryPolicy::after_giving_up(RetryState& state, Random& random,
                                      RetryMetrics& metrics) const {
  if (paces()) return after_failure(state, random, metrics);
  ++metrics.invocations;
  return Duration::zero();
}

std::uint32_t retry_limit(const RetryOptions& options) {
  constexpr std::uint32_t kTruncatedRetries = 5;
  const bool truncated = options.strategy == Strategy::kTruncated;
  return options.max_retries == 0 && truncated ? kTruncatedRetries : options.max_retries;
}

std::unique_ptr<RetryPolicy> make_retry_policy(const RetryOptions& options) {
  switch (options.strategy) {
    case Strategy::kFixed:
      return std::make_unique<FixedRetry>(options);
    case Strategy::kLinear:
      return std::make_unique<LinearBackoff>(options);
    case Strategy::kExponential:
      return std::make_unique<ExponentialBackoff>(options);
    case Strategy::kTruncated:
      return std::make_unique<TruncatedBackoff>(options);
    case Strategy::kResponsive:
      return std::make_unique<ResponsiveSleeper>(options);
  }
  throw std::logic_error("unknown strategy");
}

}  // namespace retrystorm
