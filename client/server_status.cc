#include "client/server_status.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "model/base/text.h"

namespace retrystorm {
namespace {

std::optional<ServiceOptions> read_settings(const nlohmann::json& settings) {
  ServiceOptions service;
  OptionList options;
  declare_options(options, service, Engine::kReal);
  try {
    for (const Option& option : options.all()) {
      const auto value = settings.find(underscored(option.name));
      if (value == settings.end() || !value->is_string()) return std::nullopt;
      option.set(value->get<std::string>());
    }
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
  return service;
}

}  // namespace

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
  if (const auto settings = json.find("settings");
      settings != json.end() && settings->is_object()) {
    status.service = read_settings(*settings);
  }
  return status;
}

}  // namespace retrystorm
