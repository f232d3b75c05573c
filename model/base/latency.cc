#include "model/base/latency.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace retrystorm {
namespace {

constexpr double kShortest = 0x1p-20;  // seconds
constexpr std::size_t kDoublings = 32;
constexpr int kBinBits = 7;  // 2^7 bins per doubling
constexpr std::size_t kBins = (kDoublings << kBinBits) + 1;
constexpr int kFractionBits = 52;
constexpr int kBinShift = kFractionBits - kBinBits;

// The bits of a positive double, read as an integer, grow almost like its logarithm, and reading
// them costs nothing. (Not std::bit_cast, because some standard libraries still lack it.)
std::int64_t bits_of(double value) {
  std::int64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

double value_of(std::int64_t bits) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// The time at which a bin begins. A fractional bin is a time inside the bin.
Duration time_at(double bin) {
  return from_seconds(
      value_of(bits_of(kShortest) + static_cast<std::int64_t>(std::ldexp(bin, kBinShift))));
}

}  // namespace

void LatencyHistogram::add(Duration latency) {
  const double seconds = to_seconds(std::max(latency, Duration(1)));
  if (seconds < kShortest) {
    ++shorter_;
  } else {
    if (bins_.empty()) bins_.resize(kBins);
    const auto bin = static_cast<std::size_t>((bits_of(seconds) - bits_of(kShortest)) >> kBinShift);
    ++bins_[std::min(bin, kBins - 1)];
  }
  ++count_;
  max_ = std::max(max_, latency);
}

void LatencyHistogram::add(const LatencyHistogram& other) {
  if (bins_.empty()) {
    bins_ = other.bins_;
  } else {
    for (std::size_t i = 0; i < other.bins_.size(); ++i) bins_[i] += other.bins_[i];
  }
  shorter_ += other.shorter_;
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

LatencyHistogram LatencyHistogram::since(const LatencyHistogram& before) const {
  LatencyHistogram added = *this;
  for (std::size_t i = 0; i < before.bins_.size(); ++i) added.bins_[i] -= before.bins_[i];
  added.shorter_ -= before.shorter_;
  added.count_ -= before.count_;
  return added;
}

std::optional<Duration> LatencyHistogram::quantile(double q) const {
  const auto bound = quantile(q, {});
  return bound ? std::optional(bound->time) : std::nullopt;
}

std::optional<TimeBound> LatencyHistogram::quantile(double q,
                                                    const LatencyHistogram& so_far) const {
  const std::uint64_t count = count_ + so_far.count_;
  if (count == 0) return std::nullopt;
  const Duration longest = std::max(max_, so_far.max_);
  const auto rank = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count)));
  // Of the latencies in a bin those that are known come first.
  std::uint64_t seen = 0;
  bool or_more = false;
  const auto reaches = [&](std::uint64_t known, std::uint64_t others) {
    or_more = seen + known < rank;
    seen += known + others;
    return seen >= rank;
  };
  const auto is_in = [](const LatencyHistogram& histogram, std::size_t bin) {
    return histogram.bins_.empty() ? 0 : histogram.bins_[bin];
  };
  Duration time = time_at(0);
  if (!reaches(shorter_, so_far.shorter_)) {
    std::size_t bin = 0;
    while (!reaches(is_in(*this, bin), is_in(so_far, bin))) ++bin;
    time = bin + 1 == kBins ? longest : time_at(static_cast<double>(bin) + 0.5);
  }
  return TimeBound{.time = std::min(longest, time), .or_more = or_more};
}

std::optional<Duration> LatencyHistogram::max() const {
  return count_ == 0 ? std::nullopt : std::optional(max_);
}

LatencyQuantiles quantiles(const LatencyHistogram& histogram) {
  return {.p50 = histogram.quantile(0.5),
          .p95 = histogram.quantile(0.95),
          .p99 = histogram.quantile(0.99)};
}

}  // namespace retrystorm
