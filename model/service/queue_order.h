// Which waiting request is served next.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace retrystorm {

// With n requests waiting, the newest is next if the other `n - 1` are at least the threshold.
// Otherwise the oldest is next. So it is never the newest (first in, first out), always (last in,
// first out), or only when the queue is long (adaptive; HHVM, hphp/util/job-queue.h,
// `lifoSwitchThreshold`).
struct QueueOrder {
  enum class Kind { kFifo, kLifo, kAdaptiveLifo };

  Kind kind = Kind::kFifo;
  std::size_t threshold = 0;  // of kAdaptiveLifo

  bool newest_first(std::size_t waiting) const {
    return kind == Kind::kLifo || (kind == Kind::kAdaptiveLifo && waiting > threshold);
  }

  bool operator==(const QueueOrder&) const = default;
};

// Parses "fifo", "lifo" or "adaptive-lifo:N". Throws std::invalid_argument with a readable message.
QueueOrder parse_queue_order(std::string_view text);
std::string to_string(const QueueOrder& order);

}  // namespace retrystorm
