// A JSON object as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "model/base/statement.h"

namespace retrystorm {

// Rounds to three decimals: precise enough for a rate or a time, and easy to read.
double rounded(double value);

// An object as one line, without the newline.
std::string json_line(const nlohmann::ordered_json& object);

// The id, and the values by their names; times in seconds.
nlohmann::ordered_json statement_json(const Statement& statement);
nlohmann::ordered_json statements_json(const Statements& statements);

// An object as one word for each of its members: "503:12.5 refused:3.0".
std::string pairs_text(const nlohmann::ordered_json& object);

}  // namespace retrystorm
