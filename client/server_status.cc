#include "client/server_status.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "model/base/text.h"
#include "model/run/outlook.h"

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

// Beyond this it only matters that a delay is longer.
constexpr Duration kLong = std::chrono::minutes(10);

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

ServerStatus operator+(const ServerStatus& a, const ServerStatus& b) {
  ServerStatus sum{.concurrency = a.concurrency + b.concurrency,
                   .last_delay_s = std::max(a.last_delay_s, b.last_delay_s)};
  if (a.workers && b.workers) {
    const ServerStatus::Workers &of_a = *a.workers, &of_b = *b.workers;
    sum.workers = {of_a.workers + of_b.workers, of_a.busy + of_b.busy, of_a.waiting + of_b.waiting};
  }
  return sum;
}

std::optional<double> late_from(const ServerStatus& server, Duration timeout) {
  if (!server.service) return std::nullopt;
  const double late = late_from(*server.service, timeout);
  return std::isfinite(late) ? std::optional(late) : std::nullopt;
}

std::optional<HeldDown> held_down(const ServerStatus& server, Duration timeout, double attempts,
                                  double most_before) {
  const double requests = server.workers ? server.workers->waiting : server.concurrency;
  const std::optional<double> late = late_from(server, timeout);
  const Duration delay = from_seconds(server.last_delay_s);
  if (late ? requests <= *late : delay <= timeout) return std::nullopt;
  Statement why{late            ? server.workers ? "held-down-waiting" : "held-down"
                : delay > kLong ? "held-down-endless"
                                : "held-down-slow",
                {{"requests", requests}, {"timeout", timeout}, {"attempts", std::round(attempts)}}};
  why.values.push_back(late ? StatementValue{"most", std::floor(*late)}
                            : StatementValue{"delay", delay});
  return HeldDown{.why = std::move(why),
                  .shed_above = static_cast<std::size_t>(std::max(10.0, 3 * most_before))};
}

}  // namespace retrystorm
