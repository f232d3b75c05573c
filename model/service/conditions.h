// What comes over a service while it runs: it is slowed down, loses capacity, fails, or is set
// otherwise.
#pragma once

#include <optional>
#include <string_view>

#include "model/service/service_options.h"

namespace retrystorm {

// What is the matter with a service, apart from how it was configured.
struct Conditions {
  double slow = 1;      // each request takes so many times as long; > 0
  double capacity = 1;  // so many times the concurrency for the same delay, or workers; > 0
  std::optional<double> errors{};  // the share that fails, in [0, 1], instead of --error-share
};

// The options in force when these conditions come over a service that is configured so. More or
// less capacity is the same curve stretched: limit and k become so many times what they were, and
// so does the greatest throughput. Or it is so many times the workers, at least one.
ServiceOptions under(const Conditions& conditions, ServiceOptions configured);

// Changes one option of a service that runs, by any of its names. Throws std::invalid_argument with
// a sentence for a person, and changes nothing, when there is no such option or value, when it
// cannot change while the service runs, or when it would have no effect.
void change_option(ServiceOptions& configured, std::string_view name, std::string_view value,
                   Engine engine);

}  // namespace retrystorm
