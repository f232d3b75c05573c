#include "client/held_down.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "model/run/outlook.h"

namespace retrystorm {
namespace {

// Beyond this it only matters that a delay is longer.
constexpr Duration kLong = std::chrono::minutes(10);

}  // namespace

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
