#include "model/service/queue_order.h"

#include <stdexcept>
#include <vector>

#include "model/base/text.h"

namespace retrystorm {

QueueOrder parse_queue_order(std::string_view text) {
  constexpr std::uint64_t kMany = 1'000'000'000;
  if (text == "fifo") return {};
  if (text == "lifo") return {.kind = QueueOrder::Kind::kLifo};
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts[0] == "adaptive-lifo") {
    if (parts.size() != 2) {
      throw std::invalid_argument(in_quotes(text) + " is not of the form adaptive-lifo:N");
    }
    return {.kind = QueueOrder::Kind::kAdaptiveLifo,
            .threshold = static_cast<std::size_t>(parse_count(parts[1], 0, kMany))};
  }
  throw std::invalid_argument(unknown_name(text, {"fifo", "lifo", "adaptive-lifo:N"}));
}

std::string to_string(const QueueOrder& order) {
  switch (order.kind) {
    case QueueOrder::Kind::kFifo:
      return "fifo";
    case QueueOrder::Kind::kLifo:
      return "lifo";
    case QueueOrder::Kind::kAdaptiveLifo:
      return "adaptive-lifo:" + std::to_string(order.threshold);
  }
  return "";
}

}  // namespace retrystorm
