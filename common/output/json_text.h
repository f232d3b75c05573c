// A JSON object as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace retrystorm {

// Rounds to three decimals: precise enough for a rate or a time, and easy to read.
double rounded(double value);

// An object as one line, without the newline.
std::string json_line(const nlohmann::ordered_json& object);

}  // namespace retrystorm
