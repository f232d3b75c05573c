// What befalls a service for a while: the outage that the verdict is about.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/base/option_list.h"
#include "model/service/conditions.h"

namespace retrystorm {

// A kind of outage, and how bad it is.
struct Disturbance {
  enum class Kind : std::uint8_t {
    kFreeze,    // the process is stopped; its kernel goes on
    kDrop,      // every connection is reset, also those not yet accepted, and new ones are refused
    kSlow,      // each request takes `value` times as long
    kErrors,    // this share of the requests let in fails
    kCapacity,  // `value` times the capacity
    kLoad,      // the clients want `value` times as much
    kCommand,   // whatever the user's commands do
  };

  Kind kind = Kind::kFreeze;
  double value = 1;

  bool operator==(const Disturbance&) const = default;
};

// "freeze", "slow:3". Throws std::invalid_argument with a sentence for a person.
Disturbance parse_disturbance(std::string_view text, Engine engine);

// As it is read.
std::string print_disturbance(const Disturbance& disturbance);

// What it does to the service, beside what is done by signals, to connections and by clients.
Conditions& impose(const Disturbance& disturbance, Conditions& conditions);

// Is it something that the service has to be told?
bool is_of_service(const Disturbance& disturbance);

}  // namespace retrystorm
