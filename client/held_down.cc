#include "client/held_down.h"

#include <algorithm>
#include <chrono>
#include <cmath>

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
  std::string why = "It is held down by its clients: " + readable(requests) + " requests " +
                    (server.workers ? "wait for a worker" : "are in the service");
  if (late) {
    why += ", and " + readable(std::floor(*late)) + " is the most that can be answered in " +
           readable(timeout);
  } else {
    why += ", and an answer takes " + (delay > kLong ? "over 10 min" : readable(delay)) +
           ", but a client waits " + readable(timeout);
  }
  why += ". So nearly all of the " + readable(std::round(attempts)) +
         " attempts/s are answered too late.";
  return HeldDown{.why = why,
                  .shed_above = static_cast<std::size_t>(std::max(10.0, 3 * most_before))};
}

}  // namespace retrystorm
