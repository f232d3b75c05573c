#include "common/output/json_text.h"

#include <cmath>

namespace retrystorm {

double rounded(double value) {
  return std::round(value * 1000) / 1000;
}

std::string json_line(const nlohmann::ordered_json& object) {
  // JSON must be UTF-8, but a path in the command line may not be. Invalid bytes are replaced.
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string pairs_text(const nlohmann::ordered_json& object) {
  std::string text;
  for (const auto& [name, value] : object.items()) {
    text += (text.empty() ? "" : " ") + name + ':' + value.dump();
  }
  return text;
}

}  // namespace retrystorm
