#include "common/latency.h"

#include <algorithm>
#include <bit>
#include <boost/histogram/algorithm/sum.hpp>
#include <boost/histogram/ostream.hpp>
#include <cmath>
#include <cstdint>

namespace retrystorm {
namespace {

constexpr double kShortest = 0x1p-20;  // seconds
constexpr double kLongest = 0x1p12;
constexpr int kDoublings = 32;
constexpr int kBinsPerDoubling = 128;

}  // namespace

double LatencyHistogram::LogLinear::forward(double seconds) {
  return static_cast<double>(std::bit_cast<std::int64_t>(seconds)) * 0x1p-52;
}

double LatencyHistogram::LogLinear::inverse(double value) {
  return std::bit_cast<double>(static_cast<std::int64_t>(value * 0x1p52));
}

LatencyHistogram::LatencyHistogram()
    : histogram_(std::make_tuple(Axis(kDoublings * kBinsPerDoubling, kShortest, kLongest))) {}

void LatencyHistogram::add(Duration latency) {
  histogram_(to_seconds(std::max(latency, Duration(1))));
  ++count_;
  max_ = std::max(max_, latency);
}

void LatencyHistogram::add(const LatencyHistogram& other) {
  histogram_ += other.histogram_;
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

std::optional<Duration> LatencyHistogram::quantile(double q) const {
  if (count_ == 0) return std::nullopt;
  const auto rank = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_)));
  const Axis& axis = histogram_.axis();
  std::uint64_t seen = histogram_.at(-1);  // shorter than the first bin
  for (int bin = 0; bin < axis.size(); ++bin) {
    if (seen >= rank) return std::min(max_, from_seconds(axis.value(bin)));
    seen += histogram_.at(bin);
    if (seen >= rank) return std::min(max_, from_seconds(axis.value(bin + 0.5)));
  }
  return max_;
}

std::optional<Duration> LatencyHistogram::max() const {
  return count_ == 0 ? std::nullopt : std::optional(max_);
}

}  // namespace retrystorm
