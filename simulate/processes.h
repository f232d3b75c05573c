// The command lines of the real programs for services behind services.
#pragma once

#include <nlohmann/json.hpp>

#include "simulate/options.h"

namespace retrystorm {

// The arguments of one `server` for each service, in an order in which each comes after those that it calls, and those
// of a `client` for each kind of clients. Where a URL belongs stands the service's name between two @. What the programs choose themselves (ports,
// files, times) is left out. Throws std::invalid_argument with a readable message if the real programs cannot do it.
nlohmann::ordered_json processes_json(const SimulatorOptions& options);

}  // namespace retrystorm
