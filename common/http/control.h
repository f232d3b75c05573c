// How a client tells a running server what befalls it: over its admin port, in lines of text.
#pragma once

#include <string>
#include <string_view>

#include "model/base/duration.h"
#include "model/run/disturbance.h"

namespace retrystorm {

// Lines that are posted here with the token are carried out in order, all or none. Each is an
// action
// (`print_action`: set, capacity, restart), or begins or ends an outage.
inline constexpr const char* kControlPath = "/control";
// Posted here they are only looked at.
inline constexpr const char* kCheckPath = "/control/check";
inline constexpr std::size_t kLargestControl = 64 * 1024;

// An outage ends by itself after `most`, should nobody be left to end it.
struct OutageOrder {
  Disturbance outage{};
  Duration most{0};
};

inline constexpr std::string_view kOutageEnds = "outage ends";

// "outage slow:3 for 20s"
inline std::string print_outage_order(const OutageOrder& order) {
  return "outage " + print_disturbance(order.outage) + " for " + format_duration(order.most);
}

// Is it a line that begins an outage? Then sets `order`. Throws std::invalid_argument with a
// sentence for a person when it begins none that there is.
bool parse_outage_order(std::string_view line, OutageOrder& order);

}  // namespace retrystorm
