#include "common/http/server_timing.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>

#include "model/base/text.h"

namespace retrystorm {
namespace {

constexpr std::string_view kService = "service";

// Returns the text before the next `separator`, without surrounding blanks. Removes both from
// `text`.
std::string_view take_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = trimmed(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::optional<Duration> parse_milliseconds(std::string_view text) {
  constexpr double kLongest = 1e12;  // about thirty years, in milliseconds
  try {
    return from_seconds(parse_number(text, 0, kLongest) / 1e3);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

}  // namespace

std::string print_service_time(Duration time) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "service;dur=%.3f", to_seconds(time) * 1e3);
  return text.data();
}

std::optional<Duration> parse_service_time(std::string_view text) {
  while (!text.empty()) {
    std::string_view metric = take_part(text, ',');
    if (take_part(metric, ';') != kService) continue;
    while (!metric.empty()) {
      std::string_view parameter = take_part(metric, ';');
      if (take_part(parameter, '=') == "dur") return parse_milliseconds(take_part(parameter, ';'));
    }
  }
  return std::nullopt;
}

}  // namespace retrystorm
