// A sum over a recent span of time. The span is divided into slices, and the oldest expires first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/base/duration.h"

namespace retrystorm {

// An amount expires between `span * (1 - 1/slices)` and `span` after it was added, as in the
// libraries whose budgets and breakers count this way. `Sum` starts at zero and has += and -=.
// Takes amortised constant time and allocates only in the constructor.
//
// Times may go back a little, because threads may read the clock before they take a lock. Such
// times count in the newest slice.
template <typename Sum>
class SlidingWindow {
 public:
  // The first slice begins at `start`. `slices` must not be 0.
  SlidingWindow(TimePoint start, Duration span, std::size_t slices)
      : slice_(std::max(span / static_cast<Duration::rep>(slices), Duration(1))),
        end_(saturating_add(start, slice_)),
        sums_(slices) {}

  void add(TimePoint now, const Sum& amount) {
    advance(now);
    sums_[newest_] += amount;
    total_ += amount;
  }

  // Subtracts from the newest slice. The amount must have been added to it.
  void subtract(TimePoint now, const Sum& amount) {
    advance(now);
    sums_[newest_] -= amount;
    total_ -= amount;
  }

  const Sum& total(TimePoint now) {
    advance(now);
    return total_;
  }

 private:
  void advance(TimePoint now) {
    if (now < end_) return;
    const auto steps = static_cast<std::uint64_t>((now - end_) / slice_) + 1;
    for (std::uint64_t i = std::min<std::uint64_t>(steps, sums_.size()); i > 0; --i) {
      newest_ = newest_ + 1 < sums_.size() ? newest_ + 1 : 0;
      total_ -= sums_[newest_];
      sums_[newest_] = Sum();
    }
    end_ += slice_ * static_cast<Duration::rep>(steps - 1);
    end_ = saturating_add(end_, slice_);
  }

  Duration slice_;
  TimePoint end_;  // of the newest slice
  std::size_t newest_ = 0;
  std::vector<Sum> sums_;
  Sum total_{};
};

}  // namespace retrystorm
