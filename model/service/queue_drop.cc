#include "model/service/queue_drop.h"

#include <stdexcept>
#include <vector>

#include "model/base/text.h"

namespace retrystorm {

QueueDrop parse_queue_drop(std::string_view text) {
  using namespace std::chrono_literals;
  constexpr Duration kShortest{1};
  if (text == "none") return {};
  if (text == "codel") return {.kind = QueueDrop::Kind::kCoDel, .time = 5ms, .interval = 100ms};
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts[0] == "age") {
    if (parts.size() != 2) {
      throw std::invalid_argument(in_quotes(text) + " is not of the form age:DURATION");
    }
    return {.kind = QueueDrop::Kind::kAge, .time = parse_duration(parts[1], Duration::zero())};
  }
  if (parts[0] == "codel") {
    if (parts.size() != 3) {
      throw std::invalid_argument(in_quotes(text) + " is not of the form codel:TARGET:INTERVAL");
    }
    return {.kind = QueueDrop::Kind::kCoDel,
            .time = parse_duration(parts[1], kShortest),
            .interval = parse_duration(parts[2], kShortest)};
  }
  throw std::invalid_argument(
      unknown_name(text, {"none", "age:DURATION", "codel", "codel:TARGET:INTERVAL"}));
}

std::string to_string(const QueueDrop& drop) {
  switch (drop.kind) {
    case QueueDrop::Kind::kNone:
      return "none";
    case QueueDrop::Kind::kAge:
      return "age:" + format_duration(drop.time);
    case QueueDrop::Kind::kCoDel:
      return "codel:" + format_duration(drop.time) + ':' + format_duration(drop.interval);
  }
  return "";
}

}  // namespace retrystorm
