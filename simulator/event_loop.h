// Virtual time: always runs the event that is due next.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "model/base/duration.h"

namespace retrystorm {

// A kind of event. `next()` returns when the first of them is due, or `kNever`. `happen(now)` runs
// it.
template <typename Next, typename Happen>
struct EventSource {
  Next next;
  Happen happen;
};
template <typename Next, typename Happen>
EventSource(Next, Happen) -> EventSource<Next, Happen>;

class EventLoop {
 public:
  static constexpr TimePoint kNever = TimePoint::max();

  TimePoint now() const { return now_; }
  std::uint64_t events() const { return events_; }

  // Ends the loop after the current event.
  void end() { end_ = TimePoint::min(); }

  // Runs until `end`, or until `stop` (if any) returns true. `stop` is only called occasionally. If
  // several events are due at the same time, the source that is listed first comes first. An event
  // that was delayed past its due time runs now.
  template <typename... Sources>
  void run(TimePoint end, const std::function<bool()>& stop, Sources... sources) {
    constexpr std::uint64_t kStopCheck = 1 << 12;
    std::uint64_t stop_check = events_ + kStopCheck;
    end_ = end;
    while (now_ < end_) {
      step(std::index_sequence_for<Sources...>(), sources...);
      if (++events_ >= stop_check) {
        stop_check = events_ + kStopCheck;
        if (stop && stop()) break;
      }
    }
  }

 private:
  template <std::size_t... kIndex, typename... Sources>
  void step(std::index_sequence<kIndex...>, Sources&... sources) {
    const std::array due{sources.next()...};
    const TimePoint first = std::min({due[kIndex]...});
    now_ = std::max(now_, first);
    static_cast<void>(((due[kIndex] == first && (sources.happen(now_), true)) || ...));
  }

  TimePoint now_{};
  TimePoint end_{};
  std::uint64_t events_ = 0;
};

}  // namespace retrystorm
