// The experiment's options for the page, made from their declarations; and describes those that the page's reader has set, without a run.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "study/named_options.h"

namespace retrystorm {

// Returns {"options": [...], "strategies": [...]}, and of services behind services {"node": [names of the options of
// each service], "edge": [those of its calls of another], "of_one_service": [those of a service that are not as in "options"]}.
nlohmann::ordered_json catalogue();

// Reads {"name": "text", ...}. Throws std::invalid_argument if it is anything else.
NamedOptions read_given(const nlohmann::ordered_json& json);

// Returns {"values": {name: text in force}, "defaults": {name: a given option's value without it},
//  "unused": {name: why it has no effect}, "errors": {name: sentence}, "command": "...",
//  "retries": their title, as `simulate` has it; empty if the scenario is refused,
//  "services": see services_json; null if there is one service,
//  "real": {"lines": [...], "without": [names of options that only the simulator has]}; null if there are several}.
// Options that are refused are not in force. `seed` is for the commands.
nlohmann::ordered_json describe(const NamedOptions& given, std::uint64_t seed);

}  // namespace retrystorm
