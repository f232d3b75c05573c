// What a reader of the page has set: options by name, read as the command line reads them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "simulator/scenario_options.h"

namespace retrystorm {

// Texts by the options' names.
using Given = std::map<std::string, std::string, std::less<>>;

// From {"name": "text", ...}. Throws std::invalid_argument when it is something else.
Given read_given(const nlohmann::ordered_json& json);

// The scenario that they make. Throws std::invalid_argument with the sentence of the command line
// where a value is refused, an option is unknown, or two of them contradict each other.
ScenarioOptions scenario_of(const Given& given);

// What is known of them without a run:
// {"values": {name: text in force}, "usual": {name: what a given one would be if it were not},
//  "unused": {name: why it has no effect}, "errors": {name: sentence}, "command": "...",
//  "real": {"lines": [...], "without": [names of what only the simulator has]}}.
// Those that are refused are left out of what is in force. `seed` is for the commands.
nlohmann::ordered_json look(const Given& given, std::uint64_t seed);

}  // namespace retrystorm
