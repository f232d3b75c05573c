// When a client's kernel sends a SYN again that was dropped.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "model/base/duration.h"
#include "model/base/fifo.h"
#include "simulator/caller.h"

namespace retrystorm {

// As Linux does it: `linear` + 1 times after a second each, then after 2, 4, 8, ... s; six times in
// all beyond the linear ones, and after 64 s more it fails. Since 6.5 `linear` is 4 (the sysctl
// tcp_syn_linear_timeouts): 1, 2, 3, 4, 5, 7, 11, ... s after the first SYN. Before it was 0, in
// effect: 1, 3, 7, ... s. Only attempts with a timeout above 2 s come to see the difference.
class SynRepeats {
 public:
  // The kernel's clock ticks make its second a little longer: at exactly 1 s the model disagrees
  // with the kernel by a third.
  static constexpr Duration kSecond = std::chrono::milliseconds(1010);

  struct Repeat {
    TimePoint time;
    Attempt attempt;
    std::uint32_t sent;  // so many SYNs were repeated before this one
    bool last;           // the kernel does not repeat it any more: the attempt fails
  };

  explicit SynRepeats(std::size_t linear) : linear_(linear) {}

  // The attempt's SYN was dropped, after so many repeats of it.
  void drop(TimePoint now, const Attempt& attempt, std::uint32_t sent) {
    const std::size_t doublings = sent > linear_ ? sent - linear_ : 0;
    const TimePoint time = saturating_add(now, kSecond * (std::int64_t{1} << doublings));
    waits_[doublings].push({time, attempt, sent, doublings == kDoublings});
    next_ = std::min(next_, time);
  }

  // When the next one is due, `TimePoint::max()` when none is.
  TimePoint next() const { return next_; }

  // The one that is due; there must be one.
  Repeat take() {
    Fifo<Repeat>& wait = *std::find_if(waits_.begin(), waits_.end(), [this](const auto& each) {
      return !each.empty() && each.front().time == next_;
    });
    const Repeat repeat = wait.front();
    wait.pop();
    next_ = TimePoint::max();
    for (const auto& each : waits_) {
      if (!each.empty()) next_ = std::min(next_, each.front().time);
    }
    return repeat;
  }

  // Of those that are due within their first seconds the one that is so far ahead, or some sooner
  // one; nothing where there is none.
  const Attempt* ahead(std::size_t count) const {
    return waits_[0].empty() ? nullptr : &waits_[0].peek(count).attempt;
  }

 private:
  static constexpr std::size_t kDoublings = 6;  // tcp_syn_retries

  const std::size_t linear_;
  // What waits equally long needs no ordering.
  std::array<Fifo<Repeat>, kDoublings + 1> waits_;
  TimePoint next_ = TimePoint::max();
};

}  // namespace retrystorm
