#include "client/dashboard/server_status.h"

#include <nlohmann/json.hpp>

namespace retrystorm {

std::optional<ServerStatus> parse_server_status(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto number = [&json](const char* name) -> std::optional<double> {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_number()) return std::nullopt;
    return found->get<double>();
  };
  const auto concurrency = number("concurrency"), delay = number("last_delay_s");
  if (!concurrency || !delay) return std::nullopt;
  ServerStatus status{.concurrency = *concurrency, .last_delay_s = *delay};
  const auto workers = number("workers"), busy = number("busy"), waiting = number("waiting");
  if (workers && busy && waiting) {
    status.workers = {.workers = *workers, .busy = *busy, .waiting = *waiting};
  }
  return status;
}

}  // namespace retrystorm
