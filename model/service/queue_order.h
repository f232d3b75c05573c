// Which of the requests that wait for a worker is served next.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace retrystorm {

// With n requests waiting, the newest is next when the `n - 1` others are at least so many, else
// the oldest: never (first in, first out), always (last in, first out), or when the queue is long
// (adaptive; HHVM, hphp/util/job-queue.h, `lifoSwitchThreshold`).
struct QueueOrder {
  enum class Kind { kFifo, kLifo, kAdaptiveLifo };

  Kind kind = Kind::kFifo;
  std::size_t threshold = 0;  // of kAdaptiveLifo

  bool newest_first(std::size_t waiting) const {
    return kind == Kind::kLifo || (kind == Kind::kAdaptiveLifo && waiting > threshold);
  }

  bool operator==(const QueueOrder&) const = default;
};

// "fifo", "lifo", "adaptive-lifo:N". Throws std::invalid_argument with a sentence for a person.
QueueOrder parse_queue_order(std::string_view text);
std::string to_string(const QueueOrder& order);

}  // namespace retrystorm
