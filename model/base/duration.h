// Time as the whole program knows it: types, Go's notation, and one saturating conversion.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace retrystorm {

using Clock = std::chrono::steady_clock;
using Duration = std::chrono::nanoseconds;
// A moment on the steady clock of the real programs or on the virtual clock of the simulator.
using TimePoint = std::chrono::time_point<Clock, Duration>;

// Reads a duration as Go writes it: "100ms", "2s", "1m30s", "1.5h", "0"; a bare number is seconds.
// Units: ns, us (µs), ms, s, m, h; a leading sign is read.
// Throws std::invalid_argument with a sentence for a person when the text is no duration or does
// not fit in 64 bits of nanoseconds (some 292 years).
Duration parse_duration(std::string_view text);

// The same, of at least this: what is shorter is refused in the same way.
Duration parse_duration(std::string_view text, Duration least);

// Writes a duration as Go writes it: "2m8.580906589s", "100ms", "1.5µs", "0s".
std::string format_duration(Duration duration);

// The duration of so many seconds, cut to whole nanoseconds. What does not fit becomes the longest
// or shortest duration there is; NaN becomes zero.
Duration from_seconds(double seconds);

double to_seconds(Duration duration);

// `duration * factor` to the nearest nanosecond, saturating as `from_seconds` does.
Duration scale(Duration duration, double factor);

// `time + wait`, or the end of time where the sum does not fit. `wait` must not be negative.
inline Duration saturating_add(Duration duration, Duration wait) {
  return duration > Duration::max() - wait ? Duration::max() : duration + wait;
}
inline TimePoint saturating_add(TimePoint time, Duration wait) {
  return TimePoint(saturating_add(time.time_since_epoch(), wait));
}

}  // namespace retrystorm
