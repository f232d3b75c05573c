// When a client's kernel sends a SYN again that was dropped.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

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

  // No client waits longer than `patience` for its attempt: what would come later does not come.
  explicit SynRepeats(std::size_t linear, Duration patience = Duration::max())
      : linear_(static_cast<std::uint32_t>(linear)) {
    Duration waited{0};
    for (std::uint32_t sent = 0; sent <= linear_ + kDoublings; ++sent) {
      waited += wait_after(sent);
      if (waited >= patience) break;
      waits_.emplace_back();
    }
  }

  // The attempt's SYN was dropped, after so many repeats of it.
  void drop(TimePoint now, const Attempt& attempt, std::uint32_t sent) {
    if (sent >= waits_.size()) return;
    waits_[sent].push({saturating_add(now, wait_after(sent)), attempt});
    find_next();
  }

  // When the next one is due, `TimePoint::max()` when none is.
  TimePoint next() const { return next_; }

  // The one that is due; there must be one.
  Repeat take() {
    const auto sent = static_cast<std::uint32_t>(from_);
    const auto [time, attempt] = waits_[from_].front();
    waits_[from_].pop();
    find_next();
    return {time, attempt, sent, sent == linear_ + kDoublings};
  }

  // Of those that were repeated as often as the one that is due, the one so far behind it, or some
  // other one when there are not so many. There must be one that is due.
  const Attempt& ahead(std::size_t count) const { return waits_[from_].peek(count).attempt; }

 private:
  static constexpr std::uint32_t kDoublings = 6;  // tcp_syn_retries

  struct Wait {
    TimePoint time;
    Attempt attempt;
  };

  Duration wait_after(std::uint32_t sent) const {
    return kSecond * (std::int64_t{1} << (sent - std::min(sent, linear_)));
  }

  void find_next() {
    next_ = TimePoint::max();
    for (std::size_t i = 0; i < waits_.size(); ++i) {
      if (waits_[i].empty() || waits_[i].front().time >= next_) continue;
      next_ = waits_[i].front().time;
      from_ = i;
    }
  }

  const std::uint32_t linear_;
  // By how often it was repeated: what waits equally long needs no ordering.
  std::vector<Fifo<Wait>> waits_;
  TimePoint next_ = TimePoint::max();
  std::size_t from_ = 0;  // where the next one is
};

}  // namespace retrystorm
