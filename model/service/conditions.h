// The conditions of a running service: slower, with less capacity, failing, or with other options.
#pragma once

#include <optional>
#include <string_view>

#include "model/service/service_options.h"

namespace retrystorm {

// The current faults of a service, apart from its configuration.
struct Conditions {
  double slow = 1;                    // factor on the time of each request; > 0
  double capacity = 1;                // factor on the curve or on the number of workers; > 0
  double errors = 0;                  // share of failures in [0, 1], independent of --error-share
  std::optional<int> error_status{};  // replaces --error-status
  // Requests per second, if that is less than --rate-limit; and the autoscaler stands still.
  std::optional<double> rate_limit{};
};

// The options that result when the conditions apply to a service with these options. Capacity
// stretches the curve: limit and k are multiplied by it, and so is the greatest throughput. With
// workers it multiplies their number, with at least one left.
ServiceOptions with_conditions(const Conditions& conditions, ServiceOptions configured);

// Changes one option of a running service, by any of its names. Throws std::invalid_argument with a
// readable message, and changes nothing, if there is no such option or value, if it cannot change
// while the service runs, or, as NoEffect, if it would have no effect.
void change_option(ServiceOptions& configured, std::string_view name, std::string_view value,
                   Engine engine);

}  // namespace retrystorm
