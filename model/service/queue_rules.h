// The workers of a service: which waiting request they take next, which are dropped, and their options.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/service/service_time.h"

namespace retrystorm {

// With n requests waiting, the newest is next if the other `n - 1` are at least the threshold.
// Otherwise the oldest is next. So it is never the newest (first in, first out), always (last in,
// first out), or only when the queue is long (adaptive; HHVM, hphp/util/job-queue.h,
// `lifoSwitchThreshold`). Or it is the newest each 1/share-th time, evenly, if it has come since the
// last one was taken: of a lock or a semaphore that is not fair, one that comes takes what the
// longest waiting is woken for.
struct QueueOrder {
  enum class Kind { kFifo, kLifo, kAdaptiveLifo, kUnfair };

  Kind kind = Kind::kFifo;
  std::size_t threshold = 0;  // of kAdaptiveLifo
  double share = 0;           // of kUnfair

  // Not of kUnfair.
  bool newest_first(std::size_t waiting) const {
    return kind == Kind::kLifo || (kind == Kind::kAdaptiveLifo && waiting > threshold);
  }

  bool operator==(const QueueOrder&) const = default;
};

// Parses "fifo", "lifo", "adaptive-lifo:N" or "unfair:SHARE". Throws std::invalid_argument with a readable message.
QueueOrder parse_queue_order(std::string_view text);
std::string to_string(const QueueOrder& order);

struct QueueDrop {
  enum class Kind {
    kNone,
    kAge,    // when a worker is free, first drop requests that waited longer than `time`
    kCoDel,  // see `CoDel`
  };

  Kind kind = Kind::kNone;
  Duration time{0};      // kAge: the longest wait; kCoDel: the target
  Duration interval{0};  // of kCoDel

  bool operator==(const QueueDrop&) const = default;
};

// Parses "none", "age:DURATION", "codel:TARGET:INTERVAL" or just "codel" (5 ms and 100 ms). Throws
// std::invalid_argument with a readable message.
QueueDrop parse_queue_drop(std::string_view text);
std::string to_string(const QueueDrop& drop);

// Controlled delay for requests (facebook/folly, folly/executors/Codel.h; Maurer, "Fail at Scale",
// 2015). It is asked about each request that leaves the queue. If even the shortest wait of an
// interval was above the target, there is a standing queue. Then, until the end of the next
// interval, each request that waited more than twice the target is dropped. The first request of an
// interval is never dropped.
class CoDel {
 public:
  CoDel(Duration target, Duration interval) : target_(target), interval_(interval) {}

  // True if a request that waited for `delay` is to be dropped. Times must not go back.
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
  Duration shortest_{0};   // shortest wait in this interval
  bool first_ = true;      // true if the next request is the first of an interval
  bool standing_ = false;  // true if the last interval had a standing queue
};

struct WorkerSettings {
  static constexpr std::size_t kUnbounded = std::numeric_limits<std::size_t>::max();

  std::size_t workers = 20;
  ServiceTime service_time = ServiceTime::fixed(std::chrono::milliseconds(100));
  std::size_t queue_length = kUnbounded;  // places for waiting requests; 0 = none wait
  QueueOrder order{};
  QueueDrop drop{};
  // How long a rejection occupies a worker, whatever its reason.
  Duration rejection_cost{0};
};

void declare_options(OptionList& options, WorkerSettings& settings);

// The same service with its counts multiplied by `factor`.
WorkerSettings scaled(WorkerSettings settings, double factor);

}  // namespace retrystorm
