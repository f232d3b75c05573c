// The deadlines of the attempts that a service receives from one caller.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "model/base/duration.h"
#include "simulator/caller.h"

namespace retrystorm {

// An attempt carries along how much time it has left. The service counts that from when it reads the request. So a
// request that has waited in the kernel, or in the sockets of a frozen service, has its whole time again.
class Deadlines {
 public:
  // The attempt is sent. `left`: `Duration::max()` without a deadline.
  void sent(const Attempt& attempt, Duration left) {
    if (left == Duration::max()) {
      all_have_one_ = false;
    } else {
      attempts_[key(attempt)] = {.left = left, .at = kUnread};
    }
  }

  // The deadline of an attempt that the service has read, which was now if this is the first call. `TimePoint::max()`:
  // it has none.
  TimePoint of(TimePoint now, const Attempt& attempt) {
    const auto found = attempts_.find(key(attempt));
    // Those that are over may be forgotten.
    if (found == attempts_.end()) return all_have_one_ ? TimePoint::min() : TimePoint::max();
    Deadline& deadline = found->second;
    if (deadline.at == kUnread) deadline.at = saturating_add(now, deadline.left + kOnTheWay);
    return deadline.at;
  }

  // Are there so many that some should be forgotten?
  bool are_many() const { return attempts_.size() >= many_; }
  // Forgets what is over, and the unread attempts for which `never_comes` returns true.
  template <typename NeverComes>
  void forget_old(TimePoint now, const NeverComes& never_comes) {
    std::erase_if(attempts_, [&](const auto& each) {
      const auto& [key, deadline] = each;
      return deadline.at == kUnread ? never_comes(attempt_of(key))
                                    : all_have_one_ && deadline.at <= now;
    });
    many_ = kLeast + 2 * attempts_.size();
  }

 private:
  static constexpr std::size_t kLeast = 10'000;
  // An attempt is read after it was sent, so its caller gives up first: the answer to a request that has ended with its
  // deadline comes too late.
  static constexpr Duration kOnTheWay = std::chrono::nanoseconds(1);
  static constexpr TimePoint kUnread = TimePoint::max();

  struct Deadline {
    Duration left{0};
    TimePoint at;
  };

  static std::uint64_t key(const Attempt& attempt) {
    return static_cast<std::uint64_t>(attempt.client) << 32 | attempt.number;
  }
  static Attempt attempt_of(std::uint64_t key) {
    return {static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key)};
  }

  std::unordered_map<std::uint64_t, Deadline> attempts_;
  std::size_t many_ = kLeast;
  bool all_have_one_ = true;
};

}  // namespace retrystorm
