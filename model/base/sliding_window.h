// A sum over the last span of time, kept in slices that are forgotten one after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/base/duration.h"

namespace retrystorm {

// What was added is forgotten between `span * (1 - 1/slices)` and `span` later, as in the libraries
// whose budgets and breakers count so. `Sum` starts at zero and has += and -=. Constant amortised
// time, no allocation after construction. Times may step back a little (threads that take the time
// before they take a lock): they then count in the newest slice.
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

  // From the newest slice, to which it must have been added.
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
