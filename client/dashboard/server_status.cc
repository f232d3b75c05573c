#include "client/dashboard/server_status.h"

#include <nlohmann/json.hpp>

namespace retrystorm {

std::optional<ServerStatus> parse_server_status(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto concurrency = json.find("concurrency"), delay = json.find("last_delay_s");
  if (concurrency == json.end() || !concurrency->is_number()) return std::nullopt;
  if (delay == json.end() || !delay->is_number()) return std::nullopt;
  return ServerStatus{concurrency->get<double>(), delay->get<double>()};
}

}  // namespace retrystorm
