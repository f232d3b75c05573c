// When a client's kernel repeats a SYN that was dropped.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/base/duration.h"
#include "model/base/queues.h"
#include "simulator/caller.h"

namespace retrystorm {

// Models Linux. The kernel sends `linear` + 1 repeats one second apart, then repeats after 2, 4, 8,
// ... s. There are six repeats beyond the linear ones. After 64 s more, the attempt fails. Since
// Linux 6.5 `linear` is 4 (the sysctl tcp_syn_linear_timeouts), so repeats come 1, 2, 3, 4, 5, 7,
// 11, ... s after the first SYN. Before, it was 0 in effect: 1, 3, 7, ... s. The difference only
// affects attempts with a timeout above 2 s.
class SynRepeats {
 public:
  // The kernel's clock ticks make its second slightly longer. With exactly 1 s, the model differs
  // from the kernel by a third.
  static constexpr Duration kSecond = std::chrono::milliseconds(1010);

  struct Repeat {
    TimePoint time;
    Attempt attempt;
    std::uint32_t sent;  // repeats before this one
    bool last;           // no repeats are left, so the attempt fails
  };

  // `patience` is the client's timeout. Repeats that would come later are left out.
  explicit SynRepeats(std::size_t linear, Duration patience = Duration::max())
      : linear_(static_cast<std::uint32_t>(linear)) {
    for (std::uint32_t sent = 0; sent <= linear_ + kDoublings; ++sent) {
      const Duration next = last_ + wait_after(sent);
      if (next >= patience) break;
      last_ = next;
      waits_.emplace_back();
    }
  }

  // When the last repeat comes within that timeout, after the first SYN. Zero if there is none.
  Duration last() const { return last_; }

  // An attempt's SYN was dropped after `sent` repeats.
  void drop(TimePoint now, const Attempt& attempt, std::uint32_t sent) {
    if (sent >= waits_.size()) return;
    waits_[sent].push({saturating_add(now, wait_after(sent)), attempt});
    find_next();
  }

  // When the next repeat is due. `TimePoint::max()` if there is none.
  TimePoint next() const { return next_; }

  // Takes the repeat that is due. There must be one.
  Repeat take() {
    const auto sent = static_cast<std::uint32_t>(from_);
    const auto [time, attempt] = waits_[from_].take();
    find_next();
    return {time, attempt, sent, sent == linear_ + kDoublings};
  }

  // The attempt that is `count` places behind the one that is due, among those repeated equally
  // often. Returns some other attempt if there are too few. There must be one that is due.
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
  Duration last_{0};
  // One queue per number of repeats. All waits in a queue are equally long, so it stays sorted.
  std::vector<Fifo<Wait>> waits_;
  TimePoint next_ = TimePoint::max();
  std::size_t from_ = 0;  // index of the queue with the next repeat
};

}  // namespace retrystorm
