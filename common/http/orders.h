// The orders, as lines of text, with which a client causes outages and changes the settings of a
// running server, over its admin port.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "model/base/duration.h"
#include "model/run/disturbance.h"

namespace retrystorm {

// Lines posted here with the token are carried out in order, either all of them or none. Each line
// is an action (`print_action`: set, capacity, restart), or begins or ends an outage.
inline constexpr const char* kControlPath = "/control";
// Lines posted here are only validated.
inline constexpr const char* kCheckPath = "/control/check";
inline constexpr std::size_t kLargestControl = 64 * 1024;

// There is only one outage at a time: another one is refused while it lasts. It ends automatically
// after `most`, in case the client that began it is gone.
struct OutageOrder {
  Disturbance outage{};
  Duration most{0};
};

// "outage slow:3 for 20s"
inline std::string print_outage_order(const OutageOrder& order) {
  return "outage " + print_disturbance(order.outage) + " for " + format_duration(order.most);
}

// "outage slow:3 ends": has no effect if the outage has already ended, and is refused if another
// one is in force. "outage ends" ends any outage.
inline std::string print_outage_end(const Disturbance& outage) {
  return "outage " + print_disturbance(outage) + " ends";
}

// Returns true and sets `order` if the line begins an outage. Throws std::invalid_argument with a
// readable message if the outage is not valid.
bool parse_outage_order(std::string_view line, OutageOrder& order);

// Returns true and sets `which` if the line ends an outage; std::nullopt means any outage. Throws
// like `parse_outage_order`.
bool parse_outage_end(std::string_view line, std::optional<Disturbance>& which);

}  // namespace retrystorm
