#include "model/retry/median_waits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "model/base/normal_quantile.h"
#include "model/base/portable_math.h"
#include "model/base/random.h"
#include "model/retry/retry_state.h"

namespace retrystorm {
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
