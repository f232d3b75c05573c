// The experiment's options for the explorer's page, made from their declarations.
#pragma once

#include <nlohmann/json.hpp>

namespace retrystorm {

// Returns {"options": [...], "strategies": [...]}.
nlohmann::ordered_json catalogue();

}  // namespace retrystorm
