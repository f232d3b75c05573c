// The types of time, durations in Go's notation, and saturating arithmetic.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace retrystorm {

using Clock = std::chrono::steady_clock;
using Duration = std::chrono::nanoseconds;
// A time on the steady clock of the real programs or on the virtual clock of the simulator.
using TimePoint = std::chrono::time_point<Clock, Duration>;

// Reads a duration in Go's notation: "100ms", "2s", "1m30s", "1.5h", "0". Units: ns, us (µs), ms, s,
// m, h; also msec, sec, second(s), min, minute(s), hour(s), and blanks before a unit: "2 min". A leading
// sign is allowed. A number without a unit is in seconds if it is below 60. Otherwise
// it is refused, because it may mean milliseconds. Throws std::invalid_argument with a readable
// message if the text is not a duration or does not fit in 64 bits of nanoseconds (about 292 years).
Duration parse_duration(std::string_view text);

// The same, but also refuses a duration below `least` in the same way.
Duration parse_duration(std::string_view text, Duration least);

// Writes a duration in Go's notation: "2m8.580906589s", "100ms", "1.5µs", "0s".
std::string format_duration(Duration duration);
// The same without zeros at the end: "5m", "2h".
std::string brief_duration(Duration duration);
// As on a clock: "1:05", "0:30.5".
std::string clock_text(Duration duration);

// Converts seconds to a duration, truncated to whole nanoseconds. A value that does not fit becomes
// the longest or shortest duration. NaN becomes zero.
Duration from_seconds(double seconds);

inline double to_seconds(Duration duration) {
  return static_cast<double>(duration.count()) / 1e9;
}

// `duration * factor`, rounded to the nearest nanosecond. Saturates like `from_seconds`.
Duration scale(Duration duration, double factor);

// The sum, or the greatest or least value if the sum does not fit.
inline Duration saturating_add(Duration duration, Duration wait) {
  Duration::rep sum = 0;
  if (!__builtin_add_overflow(duration.count(), wait.count(), &sum)) return Duration(sum);
  return wait < Duration::zero() ? Duration::min() : Duration::max();
}
inline TimePoint saturating_add(TimePoint time, Duration wait) {
  return TimePoint(saturating_add(time.time_since_epoch(), wait));
}

}  // namespace retrystorm
