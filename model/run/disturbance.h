// The faults that make up an outage. The verdict says how the service came through it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/base/option_list.h"
#include "model/service/service_options.h"

namespace retrystorm {

// The range of factors on the capacity, the load and the time of a request.
inline constexpr double kLeastFactor = 1e-3, kMostFactor = 1e3;

// A kind of outage, and how bad it is.
struct Disturbance {
  enum class Kind : std::uint8_t {
    kFreeze,     // the process is stopped, but its kernel goes on
    kDrop,       // every connection is reset, accepted or not; new ones are refused
    kSlow,       // each request takes `value` times as long
    kErrors,     // this share of the admitted requests fails, perhaps with `status`
    kCapacity,   // the service has `value` times its capacity
    kThrottle,   // the service admits `value` requests a second
    kLoad,       // the clients offer `value` times the load
    kReconnect,  // all clients lose their connection at its beginning (see connections.h)
    kCommand,    // made by the user's commands
    // Actions (see timeline.h) that take the place of an outage that is not given:
    kRestart,   // hosts restart
    kLoadStep,  // the load is `value` times the usual one
  };

  // What makes it.
  enum class By : std::uint8_t {
    kSignals,  // to the service's process
    kService,  // itself, when it is ordered to
    kClients,
    kCommands,
    kActions,
  };

  Kind kind = Kind::kFreeze;
  double value = 1;
  std::optional<int> status{};  // kErrors: the answer's; otherwise as configured

  bool operator==(const Disturbance&) const = default;
};

// Parses "freeze", "slow:3" or "errors:0.5:500". Throws std::invalid_argument with a readable message.
Disturbance parse_disturbance(std::string_view text, Engine engine);

// The text that `parse_disturbance` reads.
std::string print_disturbance(const Disturbance& disturbance);

// Applies the disturbance to the service's conditions, on top of what is in force: factors multiply, errors are
// independent of each other (and have the last status), and the least throttle holds. Signals, connections and the clients' load
// are handled elsewhere.
Conditions& apply(const Disturbance& disturbance, Conditions& conditions);

// Does its value, such as that of "slow:1", leave all as it is?
bool does_nothing(const Disturbance& disturbance);

Disturbance::By made_by(const Disturbance& disturbance);
// True if the service must be ordered to make it.
inline bool is_of_service(const Disturbance& disturbance) {
  return made_by(disturbance) == Disturbance::By::kService;
}

// Is it there for an action, which does all that is done?
inline bool is_action(const Disturbance& disturbance) {
  return made_by(disturbance) == Disturbance::By::kActions;
}

// How long an outage is if more load takes its place, and lasts to the end: it is that the load rises.
inline constexpr Duration kRise{1};

// The factor on the load that the clients offer.
inline double load_factor(const Disturbance& disturbance) {
  return disturbance.kind == Disturbance::Kind::kLoad ? disturbance.value : 1;
}

// Do clients lose their connections?
inline bool loses_connections(const Disturbance& disturbance) {
  return disturbance.kind == Disturbance::Kind::kReconnect;
}
inline constexpr std::string_view kConnectionsLost = "all clients lose their connection";

}  // namespace retrystorm
