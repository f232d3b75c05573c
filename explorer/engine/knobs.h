// The experiment's options for the explorer's page, made from their declarations.
#pragma once

#include <nlohmann/json.hpp>

namespace retrystorm {

// Returns {"options": [...], "strategies": [...]}, and of services behind services {"node": [names of the options of
// each service], "edge": [those of its calls of another], "of_one_service": [those of a service that are not as in "options"]}.
nlohmann::ordered_json catalogue();

}  // namespace retrystorm
