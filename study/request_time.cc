#include "study/request_time.h"

#include <chrono>

#include "model/run/outlook.h"

namespace retrystorm {

std::string request_time(const std::optional<TimeBound>& time) {
  if (!time) return "-";
  // Without an attempt no time passes, and the histogram begins with a microsecond.
  if (time->time < std::chrono::microseconds(1)) return time->or_more ? ">0s" : "at once";
  const std::string text = readable(time->time);
  return time->or_more ? '>' + text : text;
}

}  // namespace retrystorm
