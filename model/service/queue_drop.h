// Which of the requests that wait for a worker are turned away instead of being served.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "model/base/duration.h"

namespace retrystorm {

struct QueueDrop {
  enum class Kind {
    kNone,
    kAge,    // whenever a worker is free: first those that have waited longer than `time`
    kCoDel,  // see `CoDel`
  };

  Kind kind = Kind::kNone;
  Duration time{0};      // kAge: the longest wait; kCoDel: the target
  Duration interval{0};  // of kCoDel

  bool operator==(const QueueDrop&) const = default;
};

// "none", "age:DURATION", "codel:TARGET:INTERVAL" or just "codel" (5 ms and 100 ms). Throws
// std::invalid_argument with a sentence for a person.
QueueDrop parse_queue_drop(std::string_view text);
std::string to_string(const QueueDrop& drop);

// Controlled delay for requests (facebook/folly, folly/executors/Codel.h; Maurer, "Fail at Scale",
// 2015). It is asked about each request that comes out of the queue. When even the shortest wait of
// an interval was longer than the target, the queue is standing, and until the next such look all
// that have waited for more than twice the target are turned away. The first of an interval never
// is.
class CoDel {
 public:
  CoDel(Duration target, Duration interval) : target_(target), interval_(interval) {}

  // Whether to turn away a request that has waited for `delay`. Times must not go back.
  bool overloaded(TimePoint now, Duration delay) {
    if (now > interval_ends_ && !first_) {
      first_ = true;
      interval_ends_ = saturating_add(now, interval_);
      standing_ = shortest_ > target_;
    }
    if (first_) {
      first_ = false;
      shortest_ = delay;
      return false;
    }
    shortest_ = std::min(shortest_, delay);
    return standing_ && delay > saturating_add(target_, target_);
  }

 private:
  Duration target_;
  Duration interval_;
  TimePoint interval_ends_{};
  Duration shortest_{0};   // wait in this interval
  bool first_ = true;      // whether the next request is the first of its interval
  bool standing_ = false;  // whether the interval before had a standing queue
};

}  // namespace retrystorm
